namespace Taskscale.Workloads.CSharp;

/// <summary>
/// <c>block</c>: <c>size</c> tasks of the pool that block their thread, and the same that await. CPU time hardly shows it:
/// the pool adds threads late, and the tasks wait for them.
/// </summary>
internal static class Block {
    private const int Most = 32;
    private const int PauseMs = 20;

    /// <summary>Answer of an iteration: the number of tasks done.</summary>
    internal static void Declare() {
        Declare("Wait", () => Task.Run(() => Inner().Wait()), "sync over async: each waits for an async method that needs the pool");
        Declare("await", () => Task.Run(Inner), "each awaits it");
        Declare("Thread.Sleep", () => Task.Run(() => Thread.Sleep(PauseMs)), $"{PauseMs} ms each, by as many as the pool has threads");
        Declare("Task.Delay", () => Task.Run(() => Task.Delay(PauseMs)), $"{PauseMs} ms each, all at once");
    }

    private static void Declare(string name, Func<Task> task, string note) =>
        Parts.Declare("block", name, run => Perform(run, task)).CreatesTask(true).MaxSize(Most).Note(note);

    private static async Task Inner() => await Task.Delay(1);

    private static async Task<Timing> Perform(Run once, Func<Task> task) {
        // What the iteration before made the pool grow to is forgotten: each begins as a fresh process does.
        ThreadPool.GetMaxThreads(out int workers, out int ports);
        ThreadPool.SetMaxThreads(Environment.ProcessorCount, ports);
        await Task.Yield();
        ThreadPool.SetMaxThreads(workers, ports);
        return await once.TimeAsync(async phases => {
            var tasks = new Task[once.Size];
            for (int i = 0; i < tasks.Length; i++) tasks[i] = task();
            phases.Created();
            await Task.WhenAll(tasks);
            return tasks.Length;
        });
    }
}
