using Taskscale.Workloads.Interp;

namespace Taskscale.Workloads.CSharp.Interp;

/// <summary>How <see cref="Tasks{TObserve, TForm}"/> differ. Each is a struct, so that what does not hold is compiled away.</summary>
internal interface IForm {
    /// <summary>Builtins that cannot suspend are called as plain functions.</summary>
    static virtual bool SyncCaller => false;
    /// <summary>Literals give tasks that were completed beforehand.</summary>
    static virtual bool Cached => false;
    /// <summary>Execution contexts do not flow.</summary>
    static virtual bool NoFlow => false;
}

internal readonly struct Everywhere : IForm;

internal readonly struct SyncCaller : IForm {
    static bool IForm.SyncCaller => true;
}

internal readonly struct Cached : IForm {
    static bool IForm.Cached => true;
}

internal readonly struct NoFlow : IForm {
    static bool IForm.NoFlow => true;
}

/// <summary><c>async</c>: an async method that gives a <c>Task</c> at every node and builtin.</summary>
internal class Tasks<TObserve, TForm>(long every, TObserve observe) : Machine<TObserve>(every, observe)
    where TObserve : struct, IObserve
    where TForm : struct, IForm {
#if RUNTIME_ASYNC
    // A method between two async ones that is none itself takes what runtime-async gains.
    internal async Task<Value> Eval(Node node, Env? env) {
#else
    internal Task<Value> Eval(Node node, Env? env) =>
        TForm.Cached && node is Literal literal ? Completed(literal) : Evaluated(node, env);

    private Task<Value> Completed(Literal literal) {
        observe.Enter();
        observe.Leave();
        return literal.Completed;
    }

    private async Task<Value> Evaluated(Node node, Env? env) {
#endif
        observe.Enter();
        Value value;
        Function? function = null;
        Value[] arguments = [];
        switch (node) {
            case Literal one:
                value = one.Value;
                break;
            case Var one:
                value = Env.Find(env, one.Name);
                break;
            case Bin one:
                arguments = [await Eval(one.Left, env), await Eval(one.Right, env)];
                function = Find(one.Callee, arguments, out value);
                break;
            case If one:
                Node? chosen = Chosen(one, await Eval(one.Condition, env), out value);
                if (chosen is not null) value = await Eval(chosen, env);
                break;
            case Call one:
                arguments = new Value[one.Arguments.Length];
                for (int at = 0; at < arguments.Length; at++) arguments[at] = await Eval(one.Arguments[at], env);
                function = Find(one.Callee, arguments, out value);
                break;
            case Let one:
                value = await Eval(one.Body, Bind(env, one.Name, await Eval(one.Value, env)));
                break;
            default:
                var lambda = (Lambda)node;
                value = new Closure(env, lambda.Parameters, lambda.Body);
                break;
        }
        if (function?.Plain is { } plain) value = TForm.SyncCaller ? plain(arguments) : await Builtin(plain, arguments);
        else if (function is not null) value = await Map(arguments);
        observe.Leave();
        return value;
    }

    private static async Task<Value> Builtin(Func<Value[], Value> plain, Value[] arguments) => plain(arguments);

    /// <summary>Tests break it.</summary>
    protected virtual async Task<Value> Map(Value[] arguments) {
        if (Mapped(arguments, out Value[] list, out Closure closure) is Error wrong) return wrong;
        var values = new Value[list.Length];
        for (int at = 0; at < list.Length; at++) {
            values[at] = await Apply(closure, list[at]);
            HasValue(list[at]);
        }
        return List.Of(values);
    }

    protected async Task<Value> Apply(Closure closure, Value element) {
        if (Begins(element)) {
            // What goes on in the pool begins with contexts that flow.
            if (TForm.NoFlow && !ExecutionContext.IsFlowSuppressed()) ExecutionContext.SuppressFlow();
            if (TObserve.Counts) await observe.Pause();
            else await Task.Yield();
        }
        return await Eval(closure.Body, Applied(closure, element));
    }
}
