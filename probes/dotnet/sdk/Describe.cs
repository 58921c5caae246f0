using System.Reflection;
using System.Runtime;

namespace Taskscale;

/// <summary>
/// What a probe says of itself: declare the ways of doing a workload, then serve. The fields are those of protocol 1
/// (<c>probes/PROTOCOL.md</c>). A whole probe:
/// <code>
/// using Taskscale;
///
/// Probe.Variant("nop", "Parallel.For", run => run.Time(phases => { Parallel.For(0, run.Size, i => { }); return run.Size; }))
///     .CreatesTask(false);
/// Probe.Serve("mine", "1.0");
/// </code>
/// </summary>
public static class Probe {
    internal const long Protocol = 1;
    // Of CPU time: before it fresh processes rest on levels that are not their last (README.md, "Warm-up").
    private const long SettleMs = 600;
    /// <summary>What <c>Param</c> and <c>Variant</c> declared, in that order.</summary>
    internal static readonly Dictionary<string, Workload> Workloads = [];

    internal sealed record Parameter(object Initial, Dictionary<string, object> About);
    internal sealed record Workload(Dictionary<string, Parameter> Params, Dictionary<string, Variant> Variants);

    /// <summary>
    /// Declares a parameter of a workload: a flag, an integer or, with <paramref name="choices"/>, a word. What it returns
    /// takes more to be said of it.
    /// </summary>
    public static Dictionary<string, object> Param(string workload, string name, object initial, string help, params string[] choices) =>
        (Declare(workload).Params[name] = new(initial,
            new() { ["name"] = name, ["default"] = initial, ["choices"] = choices, ["help"] = help })).About;

    /// <summary>Declares a way of doing a workload. It is performed on the main thread, which no pool knows.</summary>
    public static Variant Variant(string workload, string name, Func<Run, Timing> perform) =>
        Declare(workload).Variants[name] = new Variant(name, perform);

    /// <summary>Declares a way of doing a workload that begins inside the thread pool.</summary>
    public static Variant VariantAsync(string workload, string name, Func<Run, Task<Timing>> perform) =>
        Variant(workload, name, run => Task.Run(() => perform(run)).GetAwaiter().GetResult());

    /// <summary>The workload of that name, which the first that is declared of it makes.</summary>
    private static Workload Declare(string name) =>
        Workloads.TryGetValue(name, out var one) ? one : Workloads[name] = new([], []);

    /// <summary>The reply to <c>describe</c>. Measures the clocks' resolution, which takes some 10 ms.</summary>
    internal static object Description(string name, string version, int? workers) => new {
        type = "description", protocol = Protocol, workers,
        runtime = new { name, language = Language(), version, toolchain = Toolchain() },
        clock = new { wall_resolution_ns = Clock.ResolutionNs(Clock.WallNs), cpu_resolution_ns = Clock.ResolutionNs(Clock.CpuNs) },
        // A fresh process compiles what it runs again and again; the tool is to warm it up for longer after each start.
        jit = true, settle_ms = SettleMs, counters = Counters.All,
        workloads = Workloads.Select(one => new {
            name = one.Key, @params = one.Value.Params.Values.Select(param => param.About),
            variants = one.Value.Variants.Values.Select(variant => variant.About),
        }),
    };

    /// <summary>The language of the program, by what it is linked with.</summary>
    private static string Language() =>
        Assembly.GetEntryAssembly()!.GetReferencedAssemblies().Any(one => one.Name == "FSharp.Core") ? "fsharp" : "csharp";

    /// <summary>The runtime and what its figures depend on: the collector, and how code is compiled.</summary>
    private static string Toolchain() {
        static string? Set(string name) => Environment.GetEnvironmentVariable("DOTNET_" + name);
        string collector = GCSettings.IsServerGC ? "server GC" : "workstation GC";
        string pause = GCSettings.LatencyMode == GCLatencyMode.Batch ? "not concurrent" : "concurrent";
        string compiled = Set("ReadyToRun") == "0" ? "off" : "on";
        string tiers = Set("TieredCompilation") == "0" ? ", no tiers" : Set("TieredPGO") == "0" ? ", no PGO" : "";
        return $".NET {Environment.Version}, {collector}, {pause}, ReadyToRun {compiled}{tiers}";
    }

    /// <summary>
    /// Serves the declared workloads as runtime <paramref name="name"/> until standard input ends or says <c>exit</c>.
    /// </summary>
    public static void Serve(string name, string version, int? workers = null) => Server.Loop(name, version, workers);
}

/// <summary>One way of doing a workload. Its methods add to what the description says of it.</summary>
public sealed class Variant {
    internal readonly Dictionary<string, object[]> Allowed = [];
    internal readonly Dictionary<string, object> About;
    internal readonly Func<Run, Timing> Perform;

    internal Variant(string name, Func<Run, Timing> perform) {
        Perform = perform;
        // A size is the length of arrays.
        About = new() { ["name"] = name, ["creates_task"] = true, ["only"] = Allowed, ["max_size"] = Array.MaxLength };
    }

    /// <summary>Says whether each unit is a task that the scheduler sees; it is, unless you say no.</summary>
    public Variant CreatesTask(bool creates) => With("creates_task", creates);

    /// <summary>
    /// Limits a parameter to some of its values. The first of them is what an absent value means here, unless the default
    /// is among them.
    /// </summary>
    public Variant Only(string param, params object[] values) {
        Allowed[param] = values;
        return this;
    }

    /// <summary>Says what size it can bear at most; the reason belongs into the note.</summary>
    public Variant MaxSize(long most) => With("max_size", most);

    /// <summary>Says that this runtime or machine cannot do it, and what would help.</summary>
    public Variant Unavailable(string reason, string remedy) => With("unavailable", new { reason, remedy });

    /// <summary>Adds one line for people.</summary>
    public Variant Note(string note) => With("note", note);

    private Variant With(string field, object value) {
        About[field] = value;
        return this;
    }
}
