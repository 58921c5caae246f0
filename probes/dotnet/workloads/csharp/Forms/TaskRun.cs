namespace Taskscale.Workloads.CSharp.Forms;

/// <summary>One <c>Task.Run</c> per unit, and one <c>Task.WhenAll</c>.</summary>
internal class TaskRun : Form {
    public override Task<long[]> Ordered<TBody>(TBody body, int from, int to, Phases phases) =>
        Task.WhenAll(Started(body, from, to, phases));

    public override Task Discard<TBody>(TBody body, int from, int to, Phases phases) {
        var tasks = new Task[to - from];
        for (int i = from; i < to; i++) {
            // Both in one closure, as a hand-written loop has it.
            var (unit, mine) = (i, body);
            mine.Created();
            tasks[i - from] = Task.Run(() => mine.Discard(unit));
        }
        phases.Created();
        return Task.WhenAll(tasks);
    }

    private protected static Task<long>[] Started<TBody>(TBody body, int from, int to, Phases phases)
        where TBody : struct, IBody {
        var tasks = new Task<long>[to - from];
        for (int i = from; i < to; i++) {
            var (unit, mine) = (i, body);
            mine.Created();
            tasks[i - from] = Task.Run(() => mine.Result(unit));
        }
        phases.Created();
        return tasks;
    }
}

/// <summary>One <c>Task.Run</c> per unit, collected by <c>Task.WhenEach</c>.</summary>
internal sealed class TaskRunEach : TaskRun {
    public override async Task<long> Completion<TBody>(TBody body, int from, int to, Phases phases) {
        long sum = 0;
        await foreach (Task<long> done in Task.WhenEach(Started(body, from, to, phases))) sum += done.Result;
        return sum;
    }
}
