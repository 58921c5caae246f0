using System.Buffers;
using System.Text.Json;

namespace Taskscale.Workloads.CSharp.Interp;

/// <summary>A value of the program.</summary>
internal abstract class Value {
    /// <summary>Writes a value as compact JSON. What has no JSON is written as what it is, and is then no right output.</summary>
    internal static void Write(Value value, IBufferWriter<byte> to) {
        using var json = new Utf8JsonWriter(to);
        if (Wrong(value) is string wrong) json.WriteRawValue(wrong, skipInputValidation: true);
        else Write(value, json);
    }

    private static string? Wrong(Value value) => value switch {
        Error error => $"an error: {error.Text}",
        Closure => "a lambda",
        List list => list.Values.Select(Wrong).FirstOrDefault(wrong => wrong is not null),
        _ => null,
    };

    private static void Write(Value value, Utf8JsonWriter json) {
        switch (value) {
            case Int one: json.WriteNumberValue(one.Number); break;
            case Str one: json.WriteStringValue(one.Text); break;
            case Bool one: json.WriteBooleanValue(one.Flag); break;
            case List list:
                json.WriteStartArray();
                foreach (Value one in list.Values) Write(one, json);
                json.WriteEndArray();
                break;
        }
    }
}

internal sealed class Int(long number) : Value {
    internal readonly long Number = number;
}

internal sealed class Str(string text) : Value {
    internal readonly string Text = text;
}

internal sealed class Bool(bool flag) : Value {
    internal static readonly Bool True = new(true), False = new(false);
    internal readonly bool Flag = flag;
}

internal sealed class List(Value[] values) : Value {
    internal readonly Value[] Values = values;

    /// <summary>The list of these values, or the first error among them.</summary>
    internal static Value Of(Value[] values) => Error.First(values) ?? (Value)new List(values);
}

/// <summary>A function of the program with the environment in which it was written.</summary>
internal sealed class Closure(Env? env, string[] parameters, Node body) : Value {
    internal readonly Env? Env = env;
    internal readonly string[] Parameters = parameters;
    internal readonly Node Body = body;
}

internal sealed class Error(string text) : Value {
    internal readonly string Text = text;

    /// <summary>The first error among these values.</summary>
    internal static Error? First(Value[] values) {
        foreach (Value value in values) {
            if (value is Error error) return error;
        }
        return null;
    }
}

/// <summary>A persistent linked list of names and values.</summary>
internal sealed class Env(string name, Value value, Env? rest) {
    private readonly string name = name;
    private readonly Value value = value;
    private readonly Env? rest = rest;

    /// <summary>The value that was bound last under a name.</summary>
    internal static Value Find(Env? env, string name) {
        for (; env is not null; env = env.rest) {
            if (env.name == name) return env.value;
        }
        return new Error($"no variable {name}");
    }
}

/// <summary>A builtin. Without <paramref name="plain"/> it is <c>List::map</c>, which may suspend; evaluators have their own.</summary>
internal sealed class Function(Func<Value[], Value>? plain) {
    /// <summary>The builtins by name.</summary>
    internal static readonly Dictionary<string, Function> ByName = new() {
        ["Int::range"] = new(Range),
        ["Int::%"] = new(Remainder),
        ["Int::=="] = new(Equal),
        ["Int::toString"] = new(Words),
        ["List::map"] = new(null),
    };

    internal readonly Func<Value[], Value>? Plain = plain;

    private static Value Range(Value[] arguments) {
        if (arguments is not [Int first, Int last]) return new Error("Int::range needs two integers");
        var all = new Value[Math.Max(0, last.Number - first.Number + 1)];
        for (int at = 0; at < all.Length; at++) all[at] = new Int(first.Number + at);
        return new List(all);
    }

    private static Value Remainder(Value[] arguments) =>
        arguments is not [Int left, Int right] ? new Error("Int::% needs two integers")
        // The remainder by -1 is 0 too, and the processor's own fails for the smallest integer.
        : new Int(right.Number is 0 or -1 ? 0 : left.Number % right.Number);

    private static Value Equal(Value[] arguments) =>
        arguments is not [Int left, Int right] ? new Error("Int::== needs two integers")
        : left.Number == right.Number ? Bool.True : Bool.False;

    private static Value Words(Value[] arguments) =>
        arguments is [Int number] ? new Str(number.Number.ToString()) : new Error("Int::toString needs an integer");
}
