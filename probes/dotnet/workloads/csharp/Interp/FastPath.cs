using Taskscale.Workloads.Interp;

namespace Taskscale.Workloads.CSharp.Interp;

/// <summary>
/// <c>struct/fast_path</c>: plain methods that give a <c>ValueTask</c>, and hand over to an async one only where what they
/// need is not there yet.
/// </summary>
internal sealed class FastPath<TObserve>(long every, TObserve observe) : Machine<TObserve>(every, observe)
    where TObserve : struct, IObserve {
    internal ValueTask<Value> Eval(Node node, Env? env) => TObserve.Counts ? Counted(node, env) : Evaluated(node, env);

    private ValueTask<Value> Counted(Node node, Env? env) {
        async ValueTask<Value> Visited() {
            observe.Enter();
            Value value = await Once<Value>.Of(Evaluated(node, env), observe);
            observe.Leave();
            return value;
        }
        return Once<Value>.Of(Visited(), observe);
    }

    private ValueTask<Value> Evaluated(Node node, Env? env) {
        switch (node) {
            case Literal one: return new(one.Value);
            case Var one: return new(Env.Find(env, one.Name));
            case Bin one: {
                ValueTask<Value> left = Eval(one.Left, env);
                if (!left.IsCompletedSuccessfully) return LeftLater(one, env, left);
                Value first = left.Result;
                ValueTask<Value> right = Eval(one.Right, env);
                return right.IsCompletedSuccessfully
                    ? Called(one.Callee, [first, right.Result])
                    : RightLater(one, first, right);
            }
            case If one: {
                ValueTask<Value> condition = Eval(one.Condition, env);
                return condition.IsCompletedSuccessfully
                    ? Branch(one, env, condition.Result)
                    : ConditionLater(one, env, condition);
            }
            case Call one: {
                var arguments = new Value[one.Arguments.Length];
                for (int at = 0; at < arguments.Length; at++) {
                    ValueTask<Value> argument = Eval(one.Arguments[at], env);
                    if (!argument.IsCompletedSuccessfully) return ArgumentLater(one, env, arguments, at, argument);
                    arguments[at] = argument.Result;
                }
                return Called(one.Callee, arguments);
            }
            case Let one: {
                ValueTask<Value> value = Eval(one.Value, env);
                return value.IsCompletedSuccessfully
                    ? Eval(one.Body, Bind(env, one.Name, value.Result))
                    : LetLater(one, env, value);
            }
            default:
                var lambda = (Lambda)node;
                return new(new Closure(env, lambda.Parameters, lambda.Body));
        }
    }

    private async ValueTask<Value> LeftLater(Bin one, Env? env, ValueTask<Value> left) {
        Value first = await left;
        return await Called(one.Callee, [first, await Eval(one.Right, env)]);
    }

    private async ValueTask<Value> RightLater(Bin one, Value first, ValueTask<Value> right) =>
        await Called(one.Callee, [first, await right]);

    private ValueTask<Value> Branch(If one, Env? env, Value condition) =>
        Chosen(one, condition, out Value error) is Node chosen ? Eval(chosen, env) : new(error);

    private async ValueTask<Value> ConditionLater(If one, Env? env, ValueTask<Value> condition) =>
        await Branch(one, env, await condition);

    private async ValueTask<Value> ArgumentLater(Call one, Env? env, Value[] arguments, int at, ValueTask<Value> argument) {
        arguments[at] = await argument;
        for (at++; at < arguments.Length; at++) arguments[at] = await Eval(one.Arguments[at], env);
        return await Called(one.Callee, arguments);
    }

    private async ValueTask<Value> LetLater(Let one, Env? env, ValueTask<Value> value) =>
        await Eval(one.Body, Bind(env, one.Name, await value));

    private ValueTask<Value> Called(Callee callee, Value[] arguments) =>
        Find(callee, arguments, out Value error) is not Function function ? new(error)
        : function.Plain is { } plain ? new(plain(arguments))
        : Map(arguments);

    private ValueTask<Value> Map(Value[] arguments) {
        if (Mapped(arguments, out Value[] list, out Closure closure) is Error wrong) return new(wrong);
        var values = new Value[list.Length];
        for (int at = 0; at < list.Length; at++) {
            ValueTask<Value> value = Apply(closure, list[at]);
            if (!value.IsCompletedSuccessfully) return ElementLater(closure, list, values, at, value);
            values[at] = value.Result;
            HasValue(list[at]);
        }
        return new(List.Of(values));
    }

    private async ValueTask<Value> ElementLater(
        Closure closure, Value[] list, Value[] values, int at, ValueTask<Value> value) {
        values[at] = await value;
        HasValue(list[at]);
        for (at++; at < list.Length; at++) {
            values[at] = await Apply(closure, list[at]);
            HasValue(list[at]);
        }
        return List.Of(values);
    }

    private ValueTask<Value> Apply(Closure closure, Value element) =>
        Begins(element) ? Paused(closure, element) : Eval(closure.Body, Applied(closure, element));

    private async ValueTask<Value> Paused(Closure closure, Value element) {
        if (TObserve.Counts) await observe.Pause();
        else await Task.Yield();
        return await Eval(closure.Body, Applied(closure, element));
    }
}
