namespace Taskscale.Workloads;

/// <summary><c>fanout</c>: start <c>size</c> tasks, collect <c>size</c> results.</summary>
public static class Fanout {
    /// <summary>
    /// Answer of an iteration: the sum of the tasks' results; in the order <c>discard</c>, where a timed run has no
    /// results, the number of tasks started.
    /// </summary>
    public static void Declare(IEnumerable<Form> forms) {
        Probe.Param("fanout", "order", "ordered", "how results are collected", "ordered", "completion", "discard");
        Probe.Param("fanout", "work", 0L, "steps of spin per task; 0: the task gives 31 * i");
        Probe.Param("fanout", "window", 0L, "most tasks alive at once, in batches; 0: all");
        Probe.Param("fanout", "extra_spin", 0L, "steps of spin once per iteration: a slow-down to be found");
        foreach (Form form in forms) {
            form.Declare("fanout", run => Perform(run, form)).Only("order", [.. form.Orders]);
        }
    }

    private static Task<Timing> Perform(Run run, Form form) => run.Integer("work") switch {
        0 => Perform(run, form, new Plain()),
        long work => Perform(run, form, new Spun(run.Seed, work)),
    };

    private static async Task<Timing> Perform<TBody>(Run run, Form form, TBody body)
        where TBody : struct, IBody {
        if (!run.Verify) return await Time(run, form, body, null);
        var count = new Count();
        return count.Report(run, await Time(run, form, new Counted<TBody>(body, count), body));
    }

    /// <summary><paramref name="right"/> tells which result belongs where; absent where nobody checks.</summary>
    private static Task<Timing> Time<TBody>(Run run, Form form, TBody body, IBody? right)
        where TBody : struct, IBody {
        int size = run.Size, window = Batch(run, "window");
        long seed = run.Seed, extraSpin = run.Integer("extra_spin");
        Func<Phases, Task<long>> one = run.Word("order") switch {
            "ordered" => phases => Ordered(form, body, size, window, right, phases),
            "completion" => phases => Completion(form, body, size, window, phases),
            _ => phases => Discarded(form, body, size, window, phases),
        };
        if (extraSpin == 0) return form.Time(run, one);
        return form.Time(run, async phases => {
            long answer = await one(phases);
            Kernel.Discard(Kernel.Spin(seed, extraSpin));
            return answer;
        });
    }

    /// <summary>How many tasks are alive at once: 0 is all, as is more than there are.</summary>
    internal static int Batch(Run run, string param) =>
        run.Integer(param) is > 0 and var asked && asked < run.Size ? (int)asked : run.Size;

    private static async Task<long> Ordered<TBody>(
        Form form, TBody body, int size, int window, IBody? right, Phases phases)
        where TBody : struct, IBody {
        long sum = 0;
        for (int from = 0; from < size; from += window) {
            long[] results = await form.Collected(form.Ordered(body, from, Math.Min(size, from + window), phases));
            foreach (long result in results) sum += result;
            if (right is not null) Check(results, from, right);
            if (from > size - window) break;
        }
        return sum;
    }

    private static async Task<long> Completion<TBody>(Form form, TBody body, int size, int window, Phases phases)
        where TBody : struct, IBody {
        long sum = 0;
        for (int from = 0; from < size; from += window) {
            sum += await form.Collected(form.Completion(body, from, Math.Min(size, from + window), phases));
            if (from > size - window) break;
        }
        return sum;
    }

    internal static async Task<long> Discarded<TBody>(Form form, TBody body, int size, int window, Phases phases)
        where TBody : struct, IBody {
        for (int from = 0; from < size; from += window) {
            await form.Collected(form.Discard(body, from, Math.Min(size, from + window), phases));
            if (from > size - window) break;
        }
        return body.Discarded(size);
    }

    /// <summary>A sum alone would not show that results lie in the wrong places.</summary>
    internal static void Check(long[] results, int from, IBody right) {
        for (int i = 0; i < results.Length; i++) {
            long expected = right.Result(from + i);
            if (results[i] != expected) {
                throw new InvalidOperationException($"result {from + i} is {results[i]}, not {expected}");
            }
        }
    }
}
