using Taskscale.Workloads.CSharp.Forms;

namespace Taskscale.Workloads.CSharp;

/// <summary>The forms of fanout and nop in C#, in the order of the tables.</summary>
internal static class All {
    internal static readonly Form[] Forms =
    [
        new TaskRun { Name = "Task.Run/WhenAll", Note = "from the main thread" },
        new TaskRun { Name = "Task.Run/WhenAll/pool", InPool = true, Note = "from inside the pool" },
        new TaskRunEach { Name = "Task.Run/WhenEach", InPool = true, Orders = ["completion"], Note = "from inside the pool" },
        new Yielding { Name = "Task.Yield", InPool = true, Note = "async methods that yield once, WhenAll" },
        new WorkItems { Name = "work_item", Note = "UnsafeQueueUserWorkItem with one object each, and a CountdownEvent" },
        new Sources(TaskCreationOptions.RunContinuationsAsynchronously) {
            Name = "TaskCompletionSource/queued",
            InPool = true,
            Note = "async methods that wait for one each; set after all wait; continuations go through the pool",
        },
        new Sources(TaskCreationOptions.None) {
            Name = "TaskCompletionSource/inline",
            InPool = true,
            CreatesTask = false,
            Note = "the same, continued inside SetResult: nothing is scheduled",
        },
        new Threads { Name = "Thread", MaxSize = 10_000, Note = "a thread each, all started, then joined" },
        new ForEachAsync {
            Name = "Parallel.ForEachAsync",
            InPool = true,
            CreatesTask = false,
            Note = "as many workers as processors take units from one enumerator",
        },
        new For { Name = "Parallel.For", CreatesTask = false, Note = "splits the range by need: far fewer tasks than units" },
        new Channels(0) {
            Name = "Channel/unbounded",
            InPool = true,
            CreatesTask = false,
            Note = "units written to a channel, as many consumers as processors",
        },
        new Channels(128) {
            Name = "Channel/bounded",
            InPool = true,
            CreatesTask = false,
            Note = "the same with room for 128 units",
        },
        new Blocks(false) {
            Name = "ActionBlock/plain",
            InPool = true,
            CreatesTask = false,
            Note = "TPL Dataflow, messages to one block of as many workers as processors",
        },
        new Blocks(true) {
            Name = "ActionBlock/awaited",
            InPool = true,
            CreatesTask = false,
            Note = "the same with an async action",
        },
        new Plainly { Name = "no_task/async_Task", InPool = true, CreatesTask = false, Note = "an async method that completes at once, awaited" },
        new PlainlyValue { Name = "no_task/async_ValueTask", InPool = true, CreatesTask = false, Note = "the same that returns a ValueTask" },
    ];
}
