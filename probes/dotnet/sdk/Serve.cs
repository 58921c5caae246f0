using System.Text.Json;
using System.Text.RegularExpressions;

namespace Taskscale;

/// <summary>The loop: a line in, a line out, flushed at once. What cannot be done gets an error; the probe lives on.</summary>
public static class Server {
    /// <summary>The tool's lines. Between a request and its sample a workload may have lines of its own.</summary>
    public static readonly TextReader Lines = new StreamReader(Console.OpenStandardInput());
    private static readonly StreamWriter replies = new(Console.OpenStandardOutput()) { AutoFlush = true, NewLine = "\n" };

    /// <summary>Replies with a line.</summary>
    public static void Say(object reply) => replies.WriteLine(JsonSerializer.Serialize(reply));

    internal static void Loop(string name, string version, int? workers) {
        // Whatever a workload prints must not get between the replies.
        Console.SetOut(Console.Error);
        while (Lines.ReadLine() is string line && Reply(line, name, version, workers) is object said) Say(said);
        // Threads of a workload that hangs must not keep the process from its end.
        Environment.Exit(0);
    }

    /// <summary>The reply to a line; none to <c>exit</c>. Whatever is thrown fails this request alone.</summary>
    internal static object? Reply(string line, string name, string version, int? workers) {
        try {
            using var read = JsonDocument.Parse(line);
            JsonElement asked = read.RootElement;
            if (asked.ValueKind != JsonValueKind.Object) throw new ArgumentException("the line is not a JSON object");
            string type = asked.TryGetProperty("type", out JsonElement said) ? said.ToString() : "";
            if (type == "exit") return null;
            if (type == "run") return Perform(new Run(asked));
            if (type != "describe") throw new ArgumentException($"unknown request type \"{type}\"; known here: describe run exit");
            string protocol = asked.GetProperty("protocol").GetRawText();
            return protocol == $"{Probe.Protocol}"
                ? Probe.Description(name, version, workers)
                : throw new ArgumentException($"the tool speaks protocol {protocol}, this probe of {name} speaks protocol "
                    + $"{Probe.Protocol}; use a tool and a probe of one release");
        }
        catch (Exception thrown) {
            string message = Place(thrown) + (thrown is ArgumentException or JsonException ? "" : $"{thrown.GetType().FullName}: ") + thrown.Message;
            return new { type = "error", message, protocol = Probe.Protocol };
        }
    }

    /// <summary>Where in the user's own file it came up (<c>my_probe.cs:12: </c>), if there; then standard error has the trace.</summary>
    private static string Place(Exception thrown) {
        string? own = Environment.GetEnvironmentVariable("TASKSCALE_PROBE_FILE");
        if (own is null || Regex.Match($"{thrown}", $@"\b{Regex.Escape(own)}:line (\d+)") is not { Success: true } found) return "";
        Console.Error.WriteLine(thrown);
        return $"{own}:{found.Groups[1]}: ";
    }

    private static object Perform(Run run) {
        var before = Counters.Read(run.Counters);
        Timing timing = run.Variant.Perform(run);
        if (run.Counters is not null) timing.Extra["counters"] = Counters.Rise(before, Counters.Read(run.Counters));
        var (wall_ns, cpu_ns, answer, extra) = timing;
        return new { type = "sample", id = run.Id, wall_ns, cpu_ns, answer = (ulong)answer, extra };
    }
}
