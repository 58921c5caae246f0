using System.Text.Json;

namespace Taskscale;

/// <summary>
/// What a <c>run</c> request asks for, and the timed loop. The tool has held it to the description before it was sent
/// (<c>probes/PROTOCOL.md</c>).
/// </summary>
public sealed class Run {
    private readonly Dictionary<string, object> values = [];
    internal readonly Variant Variant;

    /// <summary>What the sample is to be called.</summary>
    public long Id { get; }
    /// <summary>How many tasks; at least 1.</summary>
    public int Size { get; }
    /// <summary>How often the workload is repeated inside the timed part.</summary>
    public long Iterations { get; private set; }
    /// <summary>Fresh each round, at most 2^53 - 1.</summary>
    public long Seed { get; }
    /// <summary>That the execution of every task is counted, by the task.</summary>
    public bool Verify { get; }
    /// <summary>That the share of creation is told.</summary>
    public bool WantsPhases { get; }
    /// <summary>Which of the runtime's own counters are read: <c>memory</c>, <c>collector</c>, or none.</summary>
    internal string? Counters { get; }

    /// <summary>
    /// Every declared parameter has the value given, or else its default, or where the variant excludes that, the first
    /// value that it allows.
    /// </summary>
    internal Run(JsonElement message) {
        var workload = Known(Probe.Workloads, message.GetProperty("workload").GetString(), "workload");
        Variant = Known(workload.Variants, message.GetProperty("variant").GetString(), "variant");
        long Whole(string name) => message.GetProperty(name).GetInt64();
        (Id, Size, Iterations, Seed) = (Whole("id"), checked((int)Whole("size")), Whole("iterations"), Whole("seed"));
        bool has = message.TryGetProperty("params", out JsonElement given);
        bool Flag(string name) => has && given.TryGetProperty(name, out JsonElement flag) && flag.GetBoolean();
        (Verify, WantsPhases) = (Flag("verify"), Flag("phases"));
        Counters = has && given.TryGetProperty("counters", out JsonElement counters) ? counters.GetString() : null;
        foreach (var (name, param) in workload.Params) {
            var allowed = Variant.Allowed.GetValueOrDefault(name, [param.Initial]);
            values[name] = allowed.Contains(param.Initial) ? param.Initial : allowed[0];
            if (has && given.TryGetProperty(name, out JsonElement value)) values[name] = Value(value);
        }
    }

    private static object Value(JsonElement value) => value.ValueKind switch {
        JsonValueKind.String => value.GetString()!,
        JsonValueKind.Number => value.GetInt64(),
        _ => value.GetBoolean(),
    };

    /// <summary>The one of that name; throws where there is none.</summary>
    private static T Known<T>(Dictionary<string, T> all, string? name, string what) =>
        name is not null && all.TryGetValue(name, out T? one) ? one : throw new ArgumentException($"unknown {what} \"{name}\"; known here: {string.Join(" ", all.Keys)}");

    /// <summary>The value of an integer parameter.</summary>
    public long Integer(string name) => Convert.ToInt64(values[name]);

    /// <summary>The value of a parameter that is a word.</summary>
    public string Word(string name) => (string)values[name];

    /// <summary>The same request for one iteration, for a workload that sets up each by itself.</summary>
    public Run Once() {
        var once = (Run)MemberwiseClone();
        once.Iterations = 1;
        return once;
    }

    /// <summary>
    /// Times <c>Iterations</c> calls of <paramref name="one"/>. One pair of clock readings lies around them all, the wall
    /// clock outermost, so that CPU time never exceeds wall time times cores.
    /// </summary>
    public Timing Time(Func<Phases, long> one) {
        var share = new Phases(WantsPhases);
        long answer = 0, cpu = Clock.CpuBeginNs(), wall = Clock.WallNs();
        for (long done = 0; done != Iterations; done++) {
            share.Begin();
            answer += one(share);
        }
        long wallEnd = Clock.WallNs(), cpuEnd = Clock.CpuEndNs();
        return new Timing(wallEnd - wall, cpuEnd - cpu, answer, share.Extra());
    }

    /// <summary>The same for what is awaited. The await of what is done costs 1 ns an iteration.</summary>
    public async Task<Timing> TimeAsync(Func<Phases, Task<long>> one) {
        var share = new Phases(WantsPhases);
        long answer = 0, cpu = Clock.CpuBeginNs(), wall = Clock.WallNs();
        for (long done = 0; done != Iterations; done++) {
            share.Begin();
            answer += await one(share).ConfigureAwait(false);
        }
        long wallEnd = Clock.WallNs(), cpuEnd = Clock.CpuEndNs();
        return new Timing(wallEnd - wall, cpuEnd - cpu, answer, share.Extra());
    }

    /// <summary>
    /// Times of each iteration <paramref name="one"/> alone, which is given what <paramref name="setup"/> made for it, and
    /// <paramref name="teardown"/> ends. What both took is told beside. Clocks are read around each iteration, for some 2 us:
    /// let one take 100 us or more.
    /// </summary>
    public Timing TimeEach<T>(Func<T> setup, Func<Phases, T, long> one, Action<T>? teardown = null) =>
        TimeEachAsync(() => Task.FromResult(setup()), (phases, made) => Task.FromResult(one(phases, made)), teardown).Result;

    /// <summary>The same for what is awaited.</summary>
    public async Task<Timing> TimeEachAsync<T>(Func<Task<T>> setup, Func<Phases, T, Task<long>> one, Action<T>? teardown = null) {
        var share = new Phases(WantsPhases);
        long answer = 0, wall = 0, cpu = 0, wallBegin = Clock.WallNs(), cpuBegin = Clock.CpuNs();
        for (long done = 0; done != Iterations; done++) {
            T made = await setup().ConfigureAwait(false);
            long cpuBefore = Clock.CpuBeginNs(), wallBefore = Clock.WallNs();
            share.Begin();
            answer += await one(share, made).ConfigureAwait(false);
            wall += Clock.WallNs() - wallBefore;
            cpu += Clock.CpuEndNs() - cpuBefore;
            teardown?.Invoke(made);
        }
        var extra = share.Extra();
        extra["setup_cpu_ns"] = Math.Max(Clock.CpuNs() - cpuBegin - cpu, 0);
        extra["setup_wall_ns"] = Math.Max(Clock.WallNs() - wallBegin - wall, 0);
        return new Timing(wall, cpu, answer, extra);
    }
}
