namespace Taskscale.Workloads.CSharp.Bytes;

/// <summary>Every way of reading in C#.</summary>
internal static class Ways {
    private const string Linq = "LINQ: a delegate is called for each byte";

    internal static readonly Way[] All =
    [
        new ReadAllBytes<For> { Name = "ReadAllBytes/for" },
        new ReadAllBytes<ForEach> { Name = "ReadAllBytes/foreach" },
        new ReadAllBytes<Span> { Name = "ReadAllBytes/span", Note = "foreach over a ReadOnlySpan<byte>" },
        new ReadAllBytes<Aggregate> { Name = "ReadAllBytes/Aggregate", Note = Linq },
        new ReadAllBytes<Sum> { Name = "ReadAllBytes/Sum", Note = Linq, Modes = ["sum8"] },
        new FileStreamRead<Span> { Name = "FileStream.Read/span", Note = "FileStream without a buffer of its own" },
        new RandomAccessRead<Span> { Name = "RandomAccess.Read/span" },
        new RandomAccessRead<Vectors> {
            Name = "RandomAccess.Read/Vector",
            Note = "Vector<byte>: what a C compiler makes of the loop by itself",
            Modes = ["sum8"],
        },
        new Unread { Name = "RandomAccess.Read/none", Note = "nobody looks at the bytes: the floor", Modes = ["none"] },
        new MappedPointer { Name = "MemoryMappedFile/pointer", Note = "unsafe" },
        new MappedAccessor {
            Name = "MemoryMappedFile/accessor",
            Note = "ReadByte(position) of a view accessor; 1 GiB takes some 8 s",
            MaxSize = 1 << 30,
        },
        new ReadByte { Name = "FileStream.ReadByte/while", Note = "out of the stream's own buffer of `chunk` bytes" },
        new FileStreamReadAsync {
            Name = "FileStream.ReadAsync/span",
            Note = "ValueTask<int>; threads of the pool make the calls",
        },
        new FilePipeReader { Name = "PipeReader/span", Note = "over the same stream" },
        new GetByteArray<For> { Name = "HttpClient.GetByteArrayAsync/for", Source = "http" },
        new GetByteArray<Span> { Name = "HttpClient.GetByteArrayAsync/span", Source = "http" },
        new GetStream { Name = "HttpClient.GetStreamAsync/span", Source = "http", Note = "ReadAsync of the body as it comes" },
    ];
}
