namespace Taskscale.Workloads;

/// <summary><c>nop</c>: <c>size</c> tasks that do nothing, started and awaited: the forms of fanout, without results.</summary>
public static class Nop {
    /// <summary>Answer of an iteration: the number of tasks done.</summary>
    public static void Declare(IEnumerable<Form> forms) {
        Probe.Param("nop", "live", 0L, "tasks alive at once, in batches; 0: all");
        Collector.Declare("nop");
        foreach (Form form in forms.Where(form => form.Orders.Contains("discard"))) {
            form.Declare("nop", run => Perform(run, form));
        }
    }

    private static async Task<Timing> Perform(Run run, Form form) {
        if (!run.Verify) return await Time(run, form, new Nothing());
        var count = new Count();
        return count.Report(run, await Time(run, form, new Counted<Nothing>(new Nothing(), count)));
    }

    private static Task<Timing> Time<TBody>(Run run, Form form, TBody body)
        where TBody : struct, IBody {
        int size = run.Size, live = Fanout.Batch(run, "live");
        return Collector.Held(run, () => form.Time(run, phases => Fanout.Discarded(form, body, size, live, phases)));
    }
}
