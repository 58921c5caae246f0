using Taskscale.Workloads.Interp;

namespace Taskscale.Workloads.CSharp.Interp;

/// <summary>The encodings of this program, in the order of the tables.</summary>
internal static class Ways {
    internal static readonly string[] Lookups = ["by_name", "prelinked"];

    internal static readonly Way[] All =
    [
        new SyncWay { Name = "sync", Note = "plain recursion; an element that suspends calls Thread.Yield" },
#if RUNTIME_ASYNC
        new TasksWay<Everywhere> { Name = "runtime_async", Note = "the source of csharp's async; the runtime suspends methods" },
        new ValueTasksWay<Everywhere> { Name = "runtime_async/struct", Note = "the source of csharp's struct; the same" },
#else
        new TasksWay<Everywhere> { Name = "async", Note = "a Task at every node and builtin" },
        new TasksWay<SyncCaller> { Name = "async/sync_caller", Note = "a Task at every node; builtins that cannot suspend are called" },
        new TasksWay<Cached> { Name = "async/cached", Note = "as async; literals give tasks that were completed beforehand" },
        new TasksWay<NoFlow> { Name = "no_flow", Note = "as async; flow of execution contexts suppressed" },
        new ValueTasksWay<Everywhere> { Name = "struct", Note = "a ValueTask at every node and builtin" },
        new ValueTasksWay<SyncCaller> { Name = "struct/sync_caller", Note = "a ValueTask at every node; builtins that cannot suspend are called" },
        new PooledWay { Name = "struct/pooled", Note = "as struct, with PoolingAsyncValueTaskMethodBuilder" },
        new FastPathWay { Name = "struct/fast_path", Note = "plain methods; async ones only where a ValueTask is not done" },
#endif
    ];
}

internal sealed class SyncWay : Way {
    public override Request Make<TObserve>(Asked asked, TObserve observe) {
        var (program, machine) = (Node.Of(asked), new Sync<TObserve>(asked.Every, observe));
        return to => {
            Value.Write(machine.Eval(program, null), to);
            return default;
        };
    }
}

internal sealed class TasksWay<TForm> : Way
    where TForm : struct, IForm {
    public override Request Make<TObserve>(Asked asked, TObserve observe) =>
        Make(asked, new Tasks<TObserve, TForm>(asked.Every, observe));

    internal static Request Make<TObserve>(Asked asked, Tasks<TObserve, TForm> machine)
        where TObserve : struct, IObserve {
        Node program = Node.Of(asked);
        if (!TForm.NoFlow) return async to => Value.Write(await machine.Eval(program, null), to);
        return async to => {
            // What is suppressed here is restored where this method gives its ValueTask.
            if (!ExecutionContext.IsFlowSuppressed()) ExecutionContext.SuppressFlow();
            Value.Write(await machine.Eval(program, null), to);
        };
    }
}

internal sealed class ValueTasksWay<TForm> : Way
    where TForm : struct, IForm {
    public override Request Make<TObserve>(Asked asked, TObserve observe) =>
        Make(asked, new ValueTasks<TObserve, TForm>(asked.Every, observe));

    internal static Request Make<TObserve>(Asked asked, ValueTasks<TObserve, TForm> machine)
        where TObserve : struct, IObserve {
        Node program = Node.Of(asked);
        return async to => Value.Write(await machine.Eval(program, null), to);
    }
}
#if !RUNTIME_ASYNC

internal sealed class PooledWay : Way {
    public override Request Make<TObserve>(Asked asked, TObserve observe) {
        var (program, machine) = (Node.Of(asked), new Pooled<TObserve>(asked.Every, observe));
        return async to => Value.Write(await machine.Eval(program, null), to);
    }
}

internal sealed class FastPathWay : Way {
    public override Request Make<TObserve>(Asked asked, TObserve observe) {
        var (program, machine) = (Node.Of(asked), new FastPath<TObserve>(asked.Every, observe));
        return async to => Value.Write(await machine.Eval(program, null), to);
    }
}
#endif
