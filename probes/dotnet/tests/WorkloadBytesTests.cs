using System.Net;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using System.Text.Json;
using Taskscale;
using Taskscale.Workloads.CSharp.Bytes;
using OfBytes = Taskscale.Workloads.CSharp.Bytes.Workload;

/// <summary>The workload <c>bytes</c>, from files and from a server of this test.</summary>
internal static class WorkloadBytesTests {
    // Of the content of each length: what all languages must give.
    private static readonly (int Size, ulong Sum8, ulong Fnv)[] published =
    [
        (8, 221, 0xfc3775c20640340c), (65_536, 214, 0x361ce99ee50d834f), (1_048_576, 38, 0xe5d2ee95ab2a6e4b),
    ];

    static WorkloadBytesTests() => OfBytes.Declare();

    [DllImport("libc")]
    private static extern int mkfifo(string path, uint mode);

    /// <summary>The words of xoshiro256**, least byte first, whose state is four outputs of splitmix64 from the seed 42.</summary>
    private static byte[] Content(int size) {
        ulong[] state = new ulong[4];
        ulong seed = 42;
        for (int i = 0; i < 4; i++) {
            ulong z = seed += 0x9E3779B97F4A7C15;
            z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
            z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
            state[i] = z ^ (z >> 31);
        }
        byte[] content = new byte[size];
        ulong word = 0;
        for (int i = 0; i < size; i++) {
            if (i % 8 == 0) {
                word = ulong.RotateLeft(state[1] * 5, 7) * 9;
                ulong shifted = state[1] << 17;
                state[2] ^= state[0];
                state[3] ^= state[1];
                state[1] ^= state[2];
                state[0] ^= state[3];
                state[2] ^= shifted;
                state[3] = ulong.RotateLeft(state[3], 45);
            }
            content[i] = (byte)(word >> (8 * (i % 8)));
        }
        return content;
    }

    private static (ulong Sum8, ulong Fnv) Sums(byte[] content) {
        ulong sum = 0, hash = 0xCBF29CE484222325;
        foreach (byte value in content) (sum, hash) = ((sum + value) % 256, (hash ^ value) * 0x100000001B3);
        return (sum, hash);
    }

    /// <summary>Has <paramref name="use"/> ask for the content, which is in a folder and behind a server.</summary>
    private static void With(byte[] content, Action use) {
        string folder = Directory.CreateTempSubdirectory("taskscale-bytes-").FullName;
        using var server = new TcpListener(IPAddress.Loopback, 0);
        server.Start();
        var serving = new Thread(() => Serve(server, content)) { IsBackground = true };
        serving.Start();
        try {
            File.WriteAllBytes($"{folder}/{content.Length}.bytes", content);
            Environment.SetEnvironmentVariable("TASKSCALE_BYTES", folder);
            Environment.SetEnvironmentVariable("TASKSCALE_BYTES_URL", $"http://{server.LocalEndpoint}");
            use();
        }
        finally {
            Environment.SetEnvironmentVariable("TASKSCALE_BYTES", null);
            Environment.SetEnvironmentVariable("TASKSCALE_BYTES_URL", null);
            Directory.Delete(folder, true);
        }
    }

    /// <summary>Answers one request a connection. The body comes in pieces of 1,000 bytes.</summary>
    private static void Serve(TcpListener server, byte[] content) {
        try {
            while (true) {
                using TcpClient client = server.AcceptTcpClient();
                client.NoDelay = true;
                using NetworkStream stream = client.GetStream();
                var lines = new StreamReader(stream);
                string asked = lines.ReadLine() ?? "";
                while (lines.ReadLine() is { Length: > 0 }) { }
                bool here = asked.StartsWith($"GET /{content.Length}.bytes ", StringComparison.Ordinal);
                string status = here ? "200 OK" : "404 Not Found";
                string head = $"HTTP/1.1 {status}\r\nContent-Length: {(here ? content.Length : 0)}\r\nConnection: close\r\n\r\n";
                stream.Write(System.Text.Encoding.ASCII.GetBytes(head));
                if (here) foreach (byte[] piece in content.Chunk(1_000)) stream.Write(piece);
            }
        }
        catch (SocketException) {
            // The listener is closed.
        }
    }

    private static JsonElement Ran(Way way, int size, object more) => JsonSerializer.SerializeToElement(
        Server.Reply(JsonSerializer.Serialize(new {
            type = "run", id = 1, workload = "bytes", variant = way.Name, size, iterations = 2, seed = 7, @params = more,
        }), "mine", "1", 2));

    private static void Gives(Way way, int size, (ulong Sum8, ulong Fnv) right, int chunk) {
        foreach (string mode in way.Modes)
        foreach (bool verify in new[] { false, true }) {
            JsonElement said = Ran(way, size, new { mode, chunk, verify });
            Held.True(said.TryGetProperty("answer", out JsonElement answer), $"{way.Name}: {said}");
            ulong one = mode switch { "sum8" => right.Sum8, "fnv" => right.Fnv, _ => (ulong)size };
            Held.Equal(unchecked(2 * one), answer.GetUInt64(), $"{way.Name} {mode} of {size}:");
            JsonElement extra = said.GetProperty("extra");
            Held.Equal(verify, extra.TryGetProperty("executed", out JsonElement executed), $"{way.Name} executed:");
            if (verify) Held.Equal(2 * size, executed.GetInt32(), $"{way.Name} executed:");
        }
    }

    private static void EveryWayGivesThePublishedSums() {
        foreach (var (size, sum8, fnv) in published) {
            byte[] content = Content(size);
            Held.Equal((sum8, fnv), Sums(content), $"content of {size}:");
            With(content, () => {
                foreach (Way way in Ways.All) Gives(way, size, (sum8, fnv), 65_536);
            });
        }
    }

    private static void TheLastChunkMayHaveAnyLength() {
        foreach (var (size, chunk) in new[] { (1, 65_536), (65_535, 65_536), (65_537, 65_536), (65_537, 1_000), (999, 1) }) {
            byte[] content = Content(size);
            With(content, () => {
                foreach (Way way in Ways.All) Gives(way, size, Sums(content), chunk);
            });
        }
    }

    private static void BytesInAnotherOrderAreAnotherFnv() {
        byte[] content = Content(65_536);
        (content[40_000], content[40_001]) = (content[40_001], content[40_000]);
        With(content, () => {
            foreach (Way way in Ways.All.Where(way => way.Modes.Contains("fnv"))) {
                ulong fnv = Ran(way, 65_536, new { mode = "fnv" }).GetProperty("answer").GetUInt64();
                Held.True(fnv != unchecked(2 * published[1].Fnv), $"{way.Name}: swapped bytes have the right hash");
                Held.Equal(2 * published[1].Sum8, Ran(way, 65_536, new { mode = "sum8" }).GetProperty("answer").GetUInt64(), way.Name);
            }
        });
    }

    private static void AnEmptyFileHasTheSumOfNothing() {
        string path = Path.GetTempFileName();
        try {
            foreach (Way way in Ways.All.Where(way => way.Source == "file")) {
                long expected = way.Modes.Contains("fnv") ? unchecked((long)0xCBF29CE484222325) : 0;
                long found = way.Modes.Contains("fnv")
                    ? way.Pass<Fnv>(new(path, 100)).GetAwaiter().GetResult()
                    : way.Pass<Sum8>(new(path, 100)).GetAwaiter().GetResult();
                Held.Equal(expected, found, way.Name);
            }
        }
        finally {
            File.Delete(path);
        }
    }

    private static void AReadMayGiveLessThanTheBufferHolds() {
        byte[] content = Content(20_011);
        var (sum8, fnv) = Sums(content);
        string path = $"{Directory.CreateTempSubdirectory("taskscale-bytes-").FullName}/pipe";
        Held.Equal(0, mkfifo(path, 0x180), "mkfifo:");
        // Maps and reads at a position are of files alone.
        string[] files = ["MemoryMappedFile", "RandomAccess.Read"];
        foreach (Way way in Ways.All.Where(way => way.Source == "file" && !files.Contains(way.Name.Split('/')[0]))) {
            var writer = new Thread(() => {
                try {
                    using FileStream pipe = new(path, FileMode.Open, FileAccess.Write, FileShare.ReadWrite, 0);
                    foreach (byte[] piece in content.Chunk(999)) {
                        pipe.Write(piece);
                        Thread.Yield();
                    }
                }
                catch (IOException) {
                    // The reader has left early, which its sum tells.
                }
            });
            writer.Start();
            bool hashes = way.Modes.Contains("fnv");
            Origin from = new(path, 4_096);
            long found = (hashes ? way.Pass<Fnv>(from) : way.Pass<Sum8>(from)).GetAwaiter().GetResult();
            writer.Join();
            Held.Equal(hashes ? fnv : sum8, (ulong)found, way.Name);
        }
        Directory.Delete(Path.GetDirectoryName(path)!, true);
    }

    private static void WhatIsMissingIsNamed() {
        foreach (Way way in Ways.All) {
            string variable = way.Source == "http" ? "TASKSCALE_BYTES_URL" : "TASKSCALE_BYTES";
            string message = Ran(way, 5, new { }).GetProperty("message").GetString()!;
            Held.True(message.StartsWith($"{variable} is not set"), $"{way.Name}: {message}");
        }
        With(Content(8), () => {
            foreach (Way way in Ways.All) {
                string message = Ran(way, 5, new { }).GetProperty("message").GetString()!;
                Held.True(message.Contains("/5.bytes cannot be read: "), $"{way.Name}: {message}");
            }
        });
    }
}
