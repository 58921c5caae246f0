using System.Runtime.CompilerServices;
using Taskscale.Workloads.Interp;

namespace Taskscale.Workloads.CSharp.Interp;

/// <summary>What the evaluators share.</summary>
internal abstract class Machine<TObserve>(long every, TObserve observe)
    where TObserve : struct, IObserve {
    protected readonly TObserve observe = observe;

    /// <summary>The function of a call; else the value of the call, which is an error.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    protected Function? Find(Callee callee, Value[] arguments, out Value error) {
        error = Error.First(arguments)!;
        if (error is not null) return null;
        observe.Builtin();
        Function? function = callee.Linked;
        if (function is null && !Function.ByName.TryGetValue(callee.Name, out function)) error = new Error($"no function {callee.Name}");
        return function;
    }

    /// <summary>The environment with one more name.</summary>
    protected Env Bind(Env? env, string name, Value value) {
        observe.Extension();
        return new Env(name, value, env);
    }

    /// <summary>The branch that a condition chooses; else the value of the <c>if</c>, which is an error.</summary>
    protected static Node? Chosen(If one, Value condition, out Value error) {
        error = condition;
        if (condition is Bool flag) return flag.Flag ? one.Then : one.Otherwise;
        if (condition is not Error) error = new Error("a condition must be a boolean");
        return null;
    }

    /// <summary>The list and the lambda of <c>List::map</c>; else its value, which is an error.</summary>
    protected static Error? Mapped(Value[] arguments, out Value[] list, out Closure closure) {
        (list, closure) = ([], null!);
        if (arguments is not [List of, Closure by]) return new Error("List::map needs a list and a lambda");
        if (by.Parameters.Length != 1) return new Error("List::map needs a lambda of one parameter");
        (list, closure) = (of.Values, by);
        return null;
    }

    /// <summary>Begins the application to an element. Returns whether it suspends.</summary>
    protected bool Begins(Value element) {
        if (element is not Int one) return false;
        observe.Begins(one.Number);
        return every != 0 && one.Number % every == 0;
    }

    /// <summary>The environment of the application to an element.</summary>
    protected Env Applied(Closure closure, Value element) => Bind(closure.Env, closure.Parameters[0], element);

    /// <summary>Ends the application to an element, which has its value.</summary>
    protected void HasValue(Value element) {
        if (element is Int one) observe.HasValue(one.Number);
    }
}
