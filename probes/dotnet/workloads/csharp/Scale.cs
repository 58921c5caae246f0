namespace Taskscale.Workloads.CSharp;

/// <summary><c>scale</c>: <c>size</c> tasks that a given number of threads of the pool shares.</summary>
internal static class Scale {
    private const int MostWorkers = 1000;

    /// <summary>Answer of an iteration: the sum of the tasks' results.</summary>
    internal static void Declare() {
        Probe.Param("scale", "workers", 1L, "threads of the pool: SetMinThreads and SetMaxThreads");
        Probe.Param("scale", "work", 0L, "steps of spin per task; 0: the task gives 31 * i");
        Probe.Variant("scale", "Task.Run", run => OnWorkers(run, () => Perform(run))).Note("a task creates the others");
    }

    /// <summary>Has the pool as many threads as the request asks for, neither more nor fewer.</summary>
    private static Timing OnWorkers(Run run, Func<Timing> perform) {
        long workers = run.Integer("workers");
        if (workers is < 1 or > MostWorkers) throw new ArgumentException($"workers is {workers}; give 1 to {MostWorkers}");
        ThreadPool.GetMinThreads(out int least, out int portsLeast);
        ThreadPool.GetMaxThreads(out int most, out int portsMost);
        try {
            Limit((int)workers, (int)workers);
            return perform();
        }
        finally {
            Limit(least, most);
        }

        // The least is never above the most: it is lowered first.
        void Limit(int least, int most) {
            bool done = ThreadPool.SetMinThreads(1, portsLeast) && ThreadPool.SetMaxThreads(most, portsMost)
                && ThreadPool.SetMinThreads(least, portsLeast);
            if (!done) throw new InvalidOperationException($"the pool does not take {least} to {most} threads");
        }
    }

    private static Timing Perform(Run run) {
        long work = run.Integer("work");
        if (!run.Verify) return work > 0 ? Passes(run, new Spun(run.Seed, work)) : Passes(run, new Plain());
        var count = new Count();
        Timing timing = work > 0
            ? Passes(run, new Counted<Spun>(new Spun(run.Seed, work), count))
            : Passes(run, new Counted<Plain>(new Plain(), count));
        timing = count.Report(run, timing);
        // Threads of the pool take turns: more of them are seen than run at once.
        timing.Extra.Remove("workers_seen");
        return timing;
    }

    private static Timing Passes<TBody>(Run run, TBody body) where TBody : struct, IBody =>
        run.Time(_ => Task.Run(() => Root(run.Size, body)).GetAwaiter().GetResult());

    private static async Task<long> Root<TBody>(int size, TBody body) where TBody : struct, IBody {
        var tasks = new Task<long>[size];
        for (int i = 0; i < size; i++) {
            int task = i;
            body.Created();
            tasks[i] = Task.Run(() => body.Result(task));
        }
        long sum = 0;
        foreach (long result in await Task.WhenAll(tasks)) sum += result;
        return sum;
    }
}
