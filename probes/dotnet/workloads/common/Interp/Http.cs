using System.Buffers;
using System.Text.Json;

namespace Taskscale.Workloads.Interp;

/// <summary>
/// <c>mode</c> http-closed and http-open: a server, whose every GET makes a request. Without <paramref name="request"/>
/// it answers the right bytes.
/// </summary>
internal sealed class Http(byte[] right, Request? request, Counts? counts) {
    internal static readonly string[] Modes = ["http-closed", "http-open"];
    private long answered;
    private string? wrong;

    internal static bool Wanted(Run run) => Modes.Contains(run.Word("mode"));

    /// <summary>Serves until the tool says stop. This thread waits for the tool's lines; the pool serves.</summary>
    internal Timing Serve(Run run) {
        using Kestrel server = Kestrel.Start(right, Answer);
        Server.Say(new { type = "serving", id = run.Id, port = server.Port, server = Kestrel.Name });
        Await("begin");
        Volatile.Write(ref answered, 0);
        long wall = Clock.WallNs(), cpu = Clock.CpuNs();
        Server.Say(new { type = "began", id = run.Id });
        Await("stop");
        long cpuEnd = Clock.CpuNs(), wallEnd = Clock.WallNs();
        if (Volatile.Read(ref wrong) is string why) throw new InvalidOperationException(why);
        return new Timing(wallEnd - wall, cpuEnd - cpu, Volatile.Read(ref answered), []);
    }

    /// <summary>Makes one request. Returns what is wrong with its output.</summary>
    private async ValueTask<string?> Answer() {
        if (request is not null && await Difference(request) is string why) {
            Interlocked.CompareExchange(ref wrong, why, null);
            return why;
        }
        // Before the response is out: who has it may ask for the count.
        Interlocked.Increment(ref answered);
        return null;
    }

    private async ValueTask<string?> Difference(Request request) {
        var output = new ArrayBufferWriter<byte>(1024);
        counts?.Request();
        try {
            await request(output);
        }
        catch (Exception thrown) {
            return thrown.Message;
        }
        counts?.Output(output.WrittenSpan);
        return output.WrittenSpan.SequenceEqual(right) ? null : Text.Difference(output.WrittenSpan, right);
    }

    private static void Await(string kind) {
        while (Server.Lines.ReadLine() is string line) {
            if (Kind(line) == kind) return;
            Server.Say(new { type = "error", message = "a server is running: say begin or stop" });
        }
        throw new EndOfStreamException("the tool is gone");
    }

    private static string? Kind(string line) {
        try {
            using var read = JsonDocument.Parse(line);
            return read.RootElement.TryGetProperty("type", out JsonElement said) ? said.ToString() : null;
        }
        catch (Exception junk) when (junk is JsonException or InvalidOperationException) {
            return null;
        }
    }
}
