namespace Taskscale.Workloads.CSharp.Bytes;

/// <summary>
/// <c>bytes</c>: a stream of <c>size</c> bytes, read from its start to its end and summed up. Timed is from before the file is
/// opened, or the request sent, until the sum is known.
/// </summary>
internal static class Workload {
    /// <summary>Answer of an iteration: the sum, or the number of bytes where none is asked for.</summary>
    internal static void Declare() {
        Probe.Param("bytes", "source", "file", "where bytes come from", "file", "http");
        Probe.Param("bytes", "mode", "sum8", "the sum of all bytes modulo 256, FNV-1a of 64 bits, or none", "sum8", "fnv", "none");
        Probe.Param("bytes", "chunk", 65_536L, "bytes of the buffer, of variants that read into one");
        foreach (Way way in Ways.All) {
            Variant variant = Probe.VariantAsync("bytes", way.Name, run => Perform(run, way)).CreatesTask(false)
                .Only("source", way.Source).Only("mode", way.Modes);
            if (way.Note is string note) variant.Note(note);
            if (way.MaxSize is long most) variant.MaxSize(most);
        }
    }

    private static Task<Timing> Perform(Run run, Way way) => (run.Word("mode"), run.Verify) switch {
        ("fnv", false) => Time<Fnv>(run, way),
        ("fnv", true) => Time<Counted<Fnv>>(run, way),
        (_, false) => Time<Sum8>(run, way),
        (_, true) => Time<Counted<Sum8>>(run, way),
    };

    private static async Task<Timing> Time<TSum>(Run run, Way way) where TSum : struct, ISum {
        Origin from = Place(run);
        Consumed.Bytes = 0;
        try {
            Timing timing = await run.TimeAsync(_ => way.Pass<TSum>(from));
            if (run.Verify) timing.Extra["executed"] = Consumed.Bytes;
            return timing;
        }
        catch (Exception failed) when (failed is IOException or UnauthorizedAccessException or HttpRequestException) {
            throw new ArgumentException($"{from.Place} cannot be read: {failed.Message}");
        }
    }

    private static Origin Place(Run run) {
        bool served = run.Word("source") == "http";
        string variable = served ? "TASKSCALE_BYTES_URL" : "TASKSCALE_BYTES";
        string what = served ? $"the address of a server of {run.Size}.bytes" : $"the folder of {run.Size}.bytes";
        string? place = Environment.GetEnvironmentVariable(variable);
        return string.IsNullOrEmpty(place)
            ? throw new ArgumentException($"{variable} is not set: it is {what}, and taskscale sets it for its probes")
            : new($"{place}/{run.Size}.bytes", checked((int)run.Integer("chunk")));
    }
}

/// <summary>Where bytes come from, by path or address, and how many of them are read at a time.</summary>
internal sealed record Origin(string Place, int Chunk);

/// <summary>A way of fetching all bytes and of adding them up.</summary>
internal abstract class Way {
    internal required string Name { get; init; }
    internal string? Note { get; init; }
    internal long? MaxSize { get; init; }
    internal string Source { get; init; } = "file";
    internal string[] Modes { get; init; } = ["sum8", "fnv"];

    /// <summary>One pass, and its answer.</summary>
    internal abstract Task<long> Pass<TSum>(Origin from) where TSum : struct, ISum;
}

/// <summary>A way that never waits but in system calls.</summary>
internal abstract class PlainWay : Way {
    protected abstract ulong Read<TSum>(Origin from) where TSum : struct, ISum;

    internal sealed override Task<long> Pass<TSum>(Origin from) => Task.FromResult((long)Read<TSum>(from));
}
