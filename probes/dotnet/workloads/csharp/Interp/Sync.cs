using Taskscale.Workloads.Interp;

namespace Taskscale.Workloads.CSharp.Interp;

/// <summary><c>sync</c>: plain recursion, which cannot suspend. An element that would yields its thread in place.</summary>
internal sealed class Sync<TObserve>(long every, TObserve observe) : Machine<TObserve>(every, observe)
    where TObserve : struct, IObserve {
    internal Value Eval(Node node, Env? env) {
        observe.Enter();
        Value value;
        switch (node) {
            case Literal one:
                value = one.Value;
                break;
            case Var one:
                value = Env.Find(env, one.Name);
                break;
            case Bin one:
                value = Called(one.Callee, [Eval(one.Left, env), Eval(one.Right, env)]);
                break;
            case If one:
                Node? chosen = Chosen(one, Eval(one.Condition, env), out value);
                if (chosen is not null) value = Eval(chosen, env);
                break;
            case Call one:
                var arguments = new Value[one.Arguments.Length];
                for (int at = 0; at < arguments.Length; at++) arguments[at] = Eval(one.Arguments[at], env);
                value = Called(one.Callee, arguments);
                break;
            case Let one:
                value = Eval(one.Body, Bind(env, one.Name, Eval(one.Value, env)));
                break;
            default:
                var lambda = (Lambda)node;
                value = new Closure(env, lambda.Parameters, lambda.Body);
                break;
        }
        observe.Leave();
        return value;
    }

    private Value Called(Callee callee, Value[] arguments) =>
        Find(callee, arguments, out Value error) is not Function function ? error
        : function.Plain is { } plain ? plain(arguments)
        : Map(arguments);

    private Value Map(Value[] arguments) {
        if (Mapped(arguments, out Value[] list, out Closure closure) is Error wrong) return wrong;
        var values = new Value[list.Length];
        for (int at = 0; at < list.Length; at++) {
            if (Begins(list[at])) {
                Thread.Yield();
                observe.Suspended();
            }
            values[at] = Eval(closure.Body, Applied(closure, list[at]));
            HasValue(list[at]);
        }
        return List.Of(values);
    }
}
