using Taskscale.Workloads.Interp;

namespace Taskscale.Workloads.CSharp.Interp;

/// <summary><c>struct</c>: an async method that gives a <c>ValueTask</c> at every node and builtin.</summary>
internal class ValueTasks<TObserve, TForm>(long every, TObserve observe) : Machine<TObserve>(every, observe)
    where TObserve : struct, IObserve
    where TForm : struct, IForm {
#if RUNTIME_ASYNC
    // A method between two async ones that is none itself takes what runtime-async gains.
    internal async ValueTask<Value> Eval(Node node, Env? env) {
#else
    internal ValueTask<Value> Eval(Node node, Env? env) => Once<Value>.Of(Evaluated(node, env), observe);

    private async ValueTask<Value> Evaluated(Node node, Env? env) {
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

    private static async ValueTask<Value> Builtin(Func<Value[], Value> plain, Value[] arguments) => plain(arguments);

    /// <summary>Tests break it.</summary>
    protected virtual async ValueTask<Value> Map(Value[] arguments) {
        if (Mapped(arguments, out Value[] list, out Closure closure) is Error wrong) return wrong;
        var values = new Value[list.Length];
        for (int at = 0; at < list.Length; at++) {
            values[at] = await Apply(closure, list[at]);
            HasValue(list[at]);
        }
        return List.Of(values);
    }

    protected async ValueTask<Value> Apply(Closure closure, Value element) {
        if (Begins(element)) {
            if (TObserve.Counts) await observe.Pause();
            else await Task.Yield();
        }
        return await Eval(closure.Body, Applied(closure, element));
    }
}
