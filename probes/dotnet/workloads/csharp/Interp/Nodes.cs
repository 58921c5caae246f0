using System.Collections.Concurrent;
using Taskscale.Workloads.Interp;

namespace Taskscale.Workloads.CSharp.Interp;

/// <summary>A node of the tree.</summary>
internal abstract class Node {
    private static readonly ConcurrentDictionary<(string, bool, long), Node> Read = new();

    /// <summary>What is asked for, read once per process.</summary>
    internal static Node Of(Asked asked) => Read.GetOrAdd(
        (asked.Text, asked.Lookup == "prelinked", asked.Depth),
        _ => Text.Read(asked.Text, asked.Depth, new Tree(asked.Lookup == "prelinked")));
}

internal sealed class Literal(Value value) : Node {
    internal readonly Value Value = value;
    /// <summary>For <c>async/cached</c>.</summary>
    internal readonly Task<Value> Completed = Task.FromResult(value);
}

internal sealed class Var(string name) : Node {
    internal readonly string Name = name;
}

internal sealed class Let(string name, Node value, Node body) : Node {
    internal readonly string Name = name;
    internal readonly Node Value = value, Body = body;
}

internal sealed class Bin(Callee callee, Node left, Node right) : Node {
    internal readonly Callee Callee = callee;
    internal readonly Node Left = left, Right = right;
}

internal sealed class Call(Callee callee, Node[] arguments) : Node {
    internal readonly Callee Callee = callee;
    internal readonly Node[] Arguments = arguments;
}

internal sealed class Lambda(string[] parameters, Node body) : Node {
    internal readonly string[] Parameters = parameters;
    internal readonly Node Body = body;
}

internal sealed class If(Node condition, Node then, Node otherwise) : Node {
    internal readonly Node Condition = condition, Then = then, Otherwise = otherwise;
}

/// <summary>How a call names its function, which the tree may hold.</summary>
internal readonly struct Callee(string name, Function? linked) {
    internal readonly string Name = name;
    internal readonly Function? Linked = linked;
}

internal sealed class Tree(bool linked) : ITree<Node> {
    private Callee Callee(string name) => new(name, linked ? Function.ByName.GetValueOrDefault(name) : null);
    public Node Int(long number) => new Literal(new Int(number));
    public Node Str(string text) => new Literal(new Str(text));
    public Node Var(string name) => new Var(name);
    public Node Let(string name, Node value, Node body) => new Let(name, value, body);
    public Node Bin(string function, Node left, Node right) => new Bin(Callee(function), left, right);
    public Node Call(string function, Node[] arguments) => new Call(Callee(function), arguments);
    public Node Lambda(string[] parameters, Node body) => new Lambda(parameters, body);
    public Node If(Node condition, Node then, Node otherwise) => new If(condition, then, otherwise);
}
