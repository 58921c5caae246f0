namespace Taskscale.Workloads.CSharp;

/// <summary>
/// <c>context</c>: <c>size</c> awaits, behind each of which a task reads one of the <c>variables</c> that it has given values.
/// Two tasks share the awaits, each with values of its own, so a value of another task is wrong. Without variables nothing is
/// read.
/// </summary>
internal static class Context {
    private static readonly AsyncLocal<long>[] All = [.. Enumerable.Range(0, 8).Select(_ => new AsyncLocal<long>())];

    /// <summary>Answer of an iteration: the number of awaits behind which the value was right.</summary>
    public static void Declare() {
        Probe.Param("context", "variables", 1, "variables that have a value: 0, 1 or 8");
        Declare("AsyncLocal", Suspending).CreatesTask(false).Note("Task.Yield()");
        Declare("AsyncLocal/Task.Run", Asking).Note("a task for each await, which has the context");
    }

    private static Variant Declare(string name, Func<int, long, int, Task<long>> form) =>
        Probe.VariantAsync("context", name, run => Perform(run, form));

    private static Task<Timing> Perform(Run run, Func<int, long, int, Task<long>> form) {
        long asked = run.Integer("variables");
        if (asked is not (0 or 1 or 8)) throw new ArgumentException($"variables is {asked}; give 0, 1 or 8");
        int count = (int)asked;
        return run.TimeAsync(async _ => {
            Task<long> other = Task.Run(() => Within(form, run.Size / 2, 1000, count));
            Task<long> mine = Task.Run(() => Within(form, run.Size - run.Size / 2, 2000, count));
            return await mine + await other;
        });
    }

    /// <summary>Gives the first variables values, and then does a share of the awaits.</summary>
    private static Task<long> Within(Func<int, long, int, Task<long>> form, int awaits, long first, int count) {
        for (int at = 0; at < count; at++) All[at].Value = first + at;
        return form(awaits, first, count);
    }

    /// <summary>Gives way to others, and then reads. Gives how often the value was right.</summary>
    private static async Task<long> Suspending(int awaits, long first, int count) {
        long right = 0;
        for (int i = 0, at = 0; i < awaits; i++) {
            await Task.Yield();
            if (count == 0 || All[at].Value == first + at) right++;
            at = at + 1 < count ? at + 1 : 0;
        }
        return right;
    }

    /// <summary>Starts a task that reads, and awaits it.</summary>
    private static async Task<long> Asking(int awaits, long first, int count) {
        long right = 0;
        for (int i = 0, at = 0; i < awaits; i++) {
            int variable = at;
            if (await Task.Run(() => count == 0 || All[variable].Value == first + variable)) right++;
            at = at + 1 < count ? at + 1 : 0;
        }
        return right;
    }
}
