namespace Taskscale.Workloads.Interp;

/// <summary><c>interp</c>: requests to an interpreter that may suspend, in every encoding that a language has for it.</summary>
public static class Workload {
    private const int MostWorkers = 1_000;

    /// <summary>Answer of an iteration: the number of requests with the right output.</summary>
    public static void Declare(string[] lookups, IEnumerable<Way> ways) => Declare(lookups, ways, Kestrel.Missing);

    internal static void Declare(string[] lookups, IEnumerable<Way> ways, (string Reason, string Remedy)? noServer) {
        Probe.Param("interp", "lookup", "by_name", "how a call finds its function; the environment is a linked list", lookups);
        Probe.Param("interp", "pause", 0L, "elements of 100 that suspend: 0, 6 (those that 15 divides) or 100");
        Probe.Param("interp", "depth", 0L, "above 0: that many nested lets are evaluated");
        Probe.Param("interp", "workers", 0L, "above 0: the requests are divided among that many threads, a loop each");
        string mode = "whether requests are made in the process, or over HTTP to Kestrel";
        string[] modes = noServer is null ? ["inproc", .. Http.Modes] : ["inproc"];
        var said = Probe.Param("interp", "mode", "inproc", mode, modes);
        if (noServer is var (why, what)) said["unavailable"] = Http.Modes.ToDictionary(one => one, _ => new { reason = why, remedy = what });
        Probe.Param("interp", "rate", 50L, "http-open: percent of the closed throughput");
        foreach (Way way in ways) {
            Variant variant = Probe.Variant("interp", way.Name, run => Perform(run, way)).CreatesTask(false);
            if (way.Note != "") variant.Note(way.Note);
            if (way.Missing is var (reason, remedy)) variant.Unavailable(reason, remedy);
        }
        Variant constant = Probe.Variant("interp", "constant", Constant).CreatesTask(false).Only("mode", [.. Http.Modes])
            .Note("the right bytes without evaluating: what the server costs");
        if (noServer is var (lacks, get)) constant.Unavailable(lacks, get);
    }

    /// <summary>Answers the right bytes without evaluating.</summary>
    private static Timing Constant(Run run) => new Http(Text.Output(run.Integer("depth")), null, null).Serve(run);

    private static Timing Perform(Run run, Way way) {
        long pause = run.Integer("pause"), depth = run.Integer("depth");
        long every = pause switch {
            0 => 0,
            6 => 15,
            100 => 1,
            _ => throw new ArgumentException($"pause is {pause}; give 0, 6 or 100"),
        };
        return Perform(run, way, new Asked(Text.Program, run.Word("lookup"), every, depth), Text.Output(depth));
    }

    internal static Timing Perform(Run run, Way way, Asked asked, byte[] right) {
        if (way.Missing is var (reason, remedy)) throw new ArgumentException($"{reason}; {remedy}");
        List<Counts> all = [];
        (Request, Counts?) Make() {
            if (!run.Verify) return (way.Make(asked, new Silent()), null);
            var counts = new Counts();
            all.Add(counts);
            return (way.Make(asked, new Counting(counts)), counts);
        }
        Timing timing;
        if (Http.Wanted(run)) {
            var (request, counts) = Make();
            timing = new Http(right, request, counts).Serve(run);
        } else {
            timing = Time(run, () => {
                var (request, counts) = Make();
                return new(request, right, counts);
            });
        }
        if (!run.Verify) return timing;
        Counts.Report(all, timing.Extra);
        return timing;
    }

    private static Timing Time(Run run, Func<Loop> loop) => run.Integer("workers") switch {
        0 => Alone(run, loop()),
        > 0 and <= MostWorkers and var workers => Divided(run, [.. Enumerable.Range(0, (int)workers).Select(_ => loop())]),
        var workers => throw new ArgumentException($"workers is {workers}; give at most {MostWorkers}"),
    };

    /// <summary>Begins inside the pool, where what suspends goes on.</summary>
    private static Timing Alone(Run run, Loop loop) {
        int size = run.Size;
        Timing timing = Task.Run(() => run.TimeAsync(_ => loop.Requests(size))).GetAwaiter().GetResult();
        loop.Check();
        return timing;
    }

    /// <summary>A thread for each loop. In each iteration they begin together, and the last one ends it.</summary>
    private static Timing Divided(Run run, Loop[] loops) {
        int size = run.Size;
        long[] requests = new long[loops.Length], wall = new long[loops.Length], right = new long[loops.Length];
        var failed = new Exception?[loops.Length];
        bool over = false;
        using var barrier = new Barrier(loops.Length + 1);
        var threads = loops.Select((loop, at) => new Thread(() => {
            long share = size / loops.Length + (at < size % loops.Length ? 1 : 0);
            for (barrier.SignalAndWait(); !Volatile.Read(ref over); barrier.SignalAndWait()) {
                try {
                    long start = Clock.WallNs();
                    right[at] = loop.Requests(share).GetAwaiter().GetResult();
                    wall[at] += Clock.WallNs() - start;
                    requests[at] += share;
                }
                catch (Exception thrown) {
                    failed[at] = thrown;
                }
                barrier.SignalAndWait();
            }
        })).ToArray();
        foreach (Thread thread in threads) thread.Start();
        Timing timing = run.Time(_ => {
            barrier.SignalAndWait();
            barrier.SignalAndWait();
            return right.Sum();
        });
        Volatile.Write(ref over, true);
        barrier.SignalAndWait();
        foreach (Thread thread in threads) thread.Join();
        if (failed.FirstOrDefault(one => one is not null) is Exception why) throw new InvalidOperationException(why.Message, why);
        foreach (Loop loop in loops) loop.Check();
        timing.Extra["worker_requests"] = requests;
        timing.Extra["worker_wall_ns"] = wall;
        return timing;
    }
}
