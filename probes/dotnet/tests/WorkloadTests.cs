using System.Runtime;
using System.Text.Json;
using Taskscale;
using Taskscale.Workloads;

/// <summary>Every variant of both languages, as the tool asks for it.</summary>
internal static class WorkloadTests {
    private const int Size = 200;

    static WorkloadTests() {
        IEnumerable<Form> forms = [.. Taskscale.Workloads.CSharp.All.Forms, .. Taskscale.Workloads.FSharp.Forms.all];
        Fanout.Declare(forms);
        Nop.Declare(forms);
        Spin.Declare();
        Taskscale.Workloads.CSharp.Drain.Declare();
        Parked.Declare("Task.Run", new Taskscale.Workloads.CSharp.Forms.Waits());
        Parked.Declare("task{}/Task.Run", new Taskscale.Workloads.FSharp.Waits.Waits());
        Taskscale.Workloads.CSharp.Cancel.Declare();
        Taskscale.Workloads.CSharp.Pingpong.Declare();
        Taskscale.Workloads.CSharp.Remote.Declare();
        Taskscale.Workloads.CSharp.Context.Declare();
        Taskscale.Workloads.CSharp.Idle.Declare();
        Taskscale.Workloads.CSharp.Scale.Declare();
        Taskscale.Workloads.CSharp.Pile.Declare();
        Taskscale.Workloads.CSharp.Block.Declare();
        Taskscale.Workloads.CSharp.Blocking.Declare();
    }

    private static IEnumerable<string> Variants(string workload) => Probe.Workloads[workload].Variants.Keys;

    private static JsonElement Ran(string workload, string variant, int size, object more) =>
        JsonSerializer.SerializeToElement(Server.Reply(JsonSerializer.Serialize(new {
            type = "run", id = 1, workload, variant, size, iterations = 3, seed = 7, @params = more,
        }), "mine", "1", 2));

    private static void Answers(string workload, string variant, ulong expected, object more, int size = Size) {
        JsonElement said = Ran(workload, variant, size, more);
        Held.True(said.TryGetProperty("answer", out JsonElement answer), $"{workload} {variant}: {said}");
        Held.Equal(expected, answer.GetUInt64(), $"{workload} {variant} {more}:");
    }

    private static void SplitmixAndXorshiftAreThePublishedOnes() {
        // The first output of splitmix64 with seed 0, and steps made by another language's whole numbers.
        Held.Equal(16294208416658607535ul, (ulong)Kernel.Spin(0, 0));
        Held.Equal(9912868593671961997ul, (ulong)Kernel.Spin(7, 3));
        Held.Equal(8656160648264049938ul, (ulong)Kernel.Spin(42, 1_000));
    }

    private static void EveryFormGivesTheRightSum() {
        ulong spun = 0;
        for (int i = 0; i < Size; i++) spun += (ulong)Kernel.Spin(7 + i, 5);
        foreach (string variant in Variants("fanout")) {
            string[] orders = [.. Probe.Workloads["fanout"].Variants[variant].Allowed["order"].Cast<string>()];
            foreach (string order in orders)
            foreach (int window in new[] { 0, 1, 16, Size, Size + 1 }) {
                bool discards = order == "discard";
                ulong sum = 31 * Size * (Size - 1) / 2, started = discards ? 3ul * Size : 3 * sum;
                Answers("fanout", variant, started, new { order, window, extra_spin = 1 });
                Answers("fanout", variant, 3 * sum, new { order, window, verify = true });
                Answers("fanout", variant, discards ? started : unchecked(3 * spun), new { order, window, work = 5 });
                Answers("fanout", variant, unchecked(3 * spun), new { order, window, work = 5, verify = true });
            }
        }
    }

    private static void EveryFormDoesNothingAsOftenAsItIsAsked() {
        foreach (string variant in Variants("nop")) {
            foreach (int live in new[] { 0, 16 }) {
                Answers("nop", variant, 3 * Size, new { live });
                Answers("nop", variant, 3 * Size, new { live, verify = true });
            }
        }
    }

    private static void NoFormIsCollectedWithTheCollectorOff() {
        foreach (string variant in Variants("nop").Where(name => name != "Thread")) {
            foreach (bool verify in new[] { false, true }) {
                JsonElement said = Ran("nop", variant, 20_000, new { gc = "off", verify });
                Held.True(said.TryGetProperty("extra", out JsonElement extra), $"{variant}: {said}");
                Held.Equal("[0]", extra.GetProperty("gc_collections").GetRawText(), variant);
            }
            Held.True(GCSettings.LatencyMode != GCLatencyMode.NoGCRegion, $"{variant} leaves the collector off");
        }
        Timing on = Timed(Asked(new { gc = "on", phases = true }), _ => GC.Collect(), 64L << 20);
        Held.Equal(3, ((int[])on.Extra["gc_collections"])[0], "with the collector on:");
    }

    private static void ACollectionWithTheCollectorOffIsFound() {
        Run run = Asked(new { gc = "off" });
        Held.Equal("", Failed(run, _ => { }, 64L << 20));
        string induced = Failed(run, _ => GC.Collect(), 64L << 20);
        Held.True(induced.StartsWith("gc=off did not hold (collections: ") && induced.Contains("region of 64 MB ran out (200 tasks, 3 times)"), induced);
        // Three times 100 MB, in blocks of 1 KB.
        string full = Failed(run, _ => { for (int i = 0; i < 100_000; i++) Kept = new byte[1000]; }, 64L << 20);
        Held.True(full.Contains("ran out") && full.Contains("--size"), full);
        string refused = Failed(run, _ => { }, 1L << 50);
        Held.True(refused.StartsWith("gc=off needs a region of 1073741824 MB, which this process cannot have"), refused);
        Held.Equal("", Failed(Asked(new { gc = "on" }), _ => GC.Collect(), 64L << 20));
        Held.True(GCSettings.LatencyMode != GCLatencyMode.NoGCRegion, "a failed request leaves the collector off");
    }

    private static byte[]? Kept;

    private static Run Asked(object more) => new(JsonSerializer.SerializeToElement(new {
        type = "run", id = 1, workload = "nop", variant = "Task.Run/WhenAll", size = Size, iterations = 3, seed = 7, @params = more,
    }));

    private static Timing Timed(Run run, Action<Phases> one, long region) =>
        Collector.Held(run, () => Task.FromResult(run.Time(phases => {
            one(phases);
            return 0;
        })), region).GetAwaiter().GetResult();

    /// <summary>What a workload says that is held in a region of that size; nothing where it does not fail.</summary>
    private static string Failed(Run run, Action<Phases> one, long region) {
        try {
            Timed(run, one, region);
            return "";
        }
        catch (InvalidOperationException why) {
            return why.Message;
        }
    }

    private static void NoMoreAreAliveThanTheWindow() {
        foreach (string variant in Variants("fanout")) {
            string order = (string)Probe.Workloads["fanout"].Variants[variant].Allowed["order"][0];
            JsonElement extra = Ran("fanout", variant, Size, new { order, window = 16, verify = true }).GetProperty("extra");
            long live = extra.GetProperty("max_live").GetInt64();
            Held.True(live is >= 1 and <= 16, $"{variant}: {live} alive at once");
            Held.Equal(3 * Size, extra.GetProperty("executed").GetInt32(), variant);
        }
    }

    private static void AResultInTheWrongPlaceIsFound() {
        long[] results = [0, 62, 31];
        try {
            Fanout.Check(results, 0, new Plain());
        }
        catch (InvalidOperationException wrong) when (wrong.Message == "result 1 is 62, not 31") {
            return;
        }
        throw new InvalidOperationException("nothing was found");
    }

    private static void WhatWaitsIsCollected() {
        foreach (string workload in new[] { "drain", "pile" }) {
            foreach (string variant in Variants(workload)) {
                Answers(workload, variant, 3 * Size, new { });
                Answers(workload, variant, 3, new { }, 1);
            }
        }
        foreach (string variant in Variants("block")) Answers("block", variant, 9, new { }, 3);
    }

    private static void AnyNumberOfWorkersDoesEveryTaskOnceAndThePoolIsThenAsBefore() {
        ThreadPool.GetMinThreads(out int least, out _);
        ThreadPool.GetMaxThreads(out int most, out _);
        foreach (string variant in Variants("scale"))
        foreach (int workers in new[] { 1, 2, 5 })
        foreach (bool verify in new[] { false, true }) {
            JsonElement said = Ran("scale", variant, Size, new { workers, verify });
            Held.True(said.TryGetProperty("answer", out JsonElement answer), $"{variant} {workers}: {said}");
            Held.Equal(3ul * 31 * Size * (Size - 1) / 2, answer.GetUInt64(), $"{variant} {workers}:");
        }
        foreach (int workers in new[] { 0, 1001 }) {
            string said = Ran("scale", "Task.Run", Size, new { workers }).ToString();
            Held.True(said.Contains($"workers is {workers}; give 1 to 1000", StringComparison.Ordinal), said);
        }
        ThreadPool.GetMinThreads(out int leastAfter, out _);
        ThreadPool.GetMaxThreads(out int mostAfter, out _);
        Held.Equal((least, most), (leastAfter, mostAfter), "threads of the pool:");
    }

    private static void AllThatParkWaitAtOnceAndAreWoken() {
        foreach (string variant in Variants("parked"))
        foreach (string on in new[] { "event", "timer", "lock" })
        foreach (bool resident in new[] { false, true }) {
            JsonElement said = Ran("parked", variant, Size, new { on, resident, verify = true });
            Held.True(said.TryGetProperty("answer", out JsonElement answer), $"{variant} {on}: {said}");
            Held.Equal(3ul * Size, answer.GetUInt64(), $"{variant} {on}:");
            JsonElement extra = said.GetProperty("extra");
            Held.Equal(Size, extra.GetProperty("waiting").GetInt32(), $"{variant} {on}:");
            Held.True(extra.TryGetProperty("resident_waiting", out _) == resident, $"{variant} {on}: {said}");
        }
    }

    private static void EveryCallBlocksAndWaitsAreTold() {
        foreach (string variant in Variants("blocking")) {
            JsonElement said = Ran("blocking", variant, 9, new { block_us = 2_000, every = 4 });
            Held.True(said.TryGetProperty("answer", out JsonElement answer), $"{variant}: {said}");
            Held.Equal(27ul, answer.GetUInt64(), $"{variant}:");
            bool blocks = variant != "without";
            JsonElement extra = said.GetProperty("extra");
            Held.Equal(blocks ? 9L : 0L, extra.GetProperty("blocked").GetInt64(), $"{variant}:");
            long Told(string name) => extra.GetProperty($"wait_{name}_ns").GetInt64();
            Held.True(Told("p50") > 0 && Told("p50") <= Told("p99") && Told("p99") <= Told("max"), $"{variant}: {said}");
            // Each iteration lasts at least as long as one call. A timer may be early by less than a millisecond.
            Held.True(!blocks || said.GetProperty("wall_ns").GetInt64() >= 3 * 1_000_000, $"{variant}: {said}");
        }
    }

    private static void AllThatWaitAreCancelled() {
        foreach (string on in new[] { "event", "timer", "lock" }) {
            foreach (string form in new[] { "shared", "linked", "each" }) {
                Answers("cancel", $"CancellationToken/{form}", 3ul * Size, new { on, first = "oldest" });
            }
            Answers("cancel", "CancellationToken/each", 3ul * Size, new { on, first = "newest" });
        }
        Answers("cancel", "CancellationToken.Register", 3ul * Size, new { on = "event" });
    }

    private static void ATaskThatDoesNotWaitIsFound() {
        try {
            // It has said that it waits, and ended.
            Parked.Begin();
            Parked.Waits();
            Parked.UntilAll([Task.FromResult(1L)], ThreadPool.CompletedWorkItemCount - 1);
        }
        catch (InvalidOperationException early) when (early.Message == "1 of 1 tasks ended before they were woken") {
            return;
        }
        throw new InvalidOperationException("nothing was found");
    }

    private static void EveryTokenComesBack() {
        foreach (string variant in Variants("pingpong"))
        // The trips do not divide evenly by 7; of more pairs than trips some have none.
        foreach (int pairs in new[] { 1, 7, Size + 5 }) {
            Answers("pingpong", variant, 3ul * Size, new { pairs });
        }
    }

    private static void EveryTaskFromOutsideRuns() {
        foreach (string variant in Variants("remote")) {
            // The tasks do not divide evenly by 7; of 64 producers some have none.
            foreach (int producers in new[] { 1, 7, 64 }) Answers("remote", variant, 3ul * 41, new { producers }, 41);
            Held.Equal("producers is 65; give 1 to 64", Ran("remote", variant, Size, new { producers = 65 }).GetProperty("message").GetString()!, variant);
        }
    }

    private static void EachTaskHasItsOwnVariables() {
        foreach (string variant in Variants("context")) {
            foreach (int variables in new[] { 0, 1, 8 }) Answers("context", variant, 3ul * (Size + 1), new { variables }, Size + 1);
            Held.Equal("variables is 3; give 0, 1 or 8", Ran("context", variant, Size, new { variables = 3 }).GetProperty("message").GetString()!, variant);
        }
    }

    private static void EveryTaskArrivesAtItsTime() {
        foreach (string variant in Variants("idle")) {
            foreach (var (rate, size) in new[] { (1000, 20), (100, 20), (10, 100) }) {
                JsonElement said = Ran("idle", variant, size, new { rate });
                Held.Equal(3ul * (ulong)size, said.GetProperty("answer").GetUInt64(), $"{variant}, {rate}");
                Held.True(said.GetProperty("wall_ns").GetInt64() >= 3_000_000 * size, $"{variant}, {rate}: {said}");
            }
            string Refused(int rate) => Ran("idle", variant, 15, new { rate }).GetProperty("message").GetString()!;
            Held.Equal("rate is 50; give 1, 10, 100 or 1000", Refused(50), variant);
            Held.Equal("in 15 ms no whole number of tasks arrives at 100 a second", Refused(100), variant);
        }
    }

    private static void WhatCreatesNoTaskIsLabelled() {
        string[] none = [.. Probe.Workloads["nop"].Variants.Where(one => !(bool)one.Value.About["creates_task"]).Select(one => one.Key)];
        foreach (string part in new[] { "Parallel", "Channel", "ActionBlock", "no_task", "/inline" }) {
            Held.True(none.Any(name => name.Contains(part)), part);
        }
        Held.True(!none.Any(name => name.Contains("Task.Run") || name.Contains("Async.")), string.Join(" ", none));
    }
}
