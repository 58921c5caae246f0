using System.Runtime.CompilerServices;
using Taskscale.Workloads.Interp;

namespace Taskscale.Workloads.CSharp.Interp;

/// <summary><c>struct/pooled</c>: the same, and what an async method keeps while it waits comes from a pool.</summary>
internal sealed class Pooled<TObserve>(long every, TObserve observe) : Machine<TObserve>(every, observe)
    where TObserve : struct, IObserve {
    internal ValueTask<Value> Eval(Node node, Env? env) => Once<Value>.Of(Evaluated(node, env), observe);

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<Value> Evaluated(Node node, Env? env) {
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
        if (function?.Plain is { } plain) value = await Builtin(plain, arguments);
        else if (function is not null) value = await Map(arguments);
        observe.Leave();
        return value;
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private static async ValueTask<Value> Builtin(Func<Value[], Value> plain, Value[] arguments) => plain(arguments);

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<Value> Map(Value[] arguments) {
        if (Mapped(arguments, out Value[] list, out Closure closure) is Error wrong) return wrong;
        var values = new Value[list.Length];
        for (int at = 0; at < list.Length; at++) {
            values[at] = await Apply(closure, list[at]);
            HasValue(list[at]);
        }
        return List.Of(values);
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<Value> Apply(Closure closure, Value element) {
        if (Begins(element)) {
            if (TObserve.Counts) await observe.Pause();
            else await Task.Yield();
        }
        return await Eval(closure.Body, Applied(closure, element));
    }
}
