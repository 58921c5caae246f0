using System.Text;
using System.Text.Json;

namespace Taskscale.Workloads.Interp;

/// <summary>Makes the nodes of a language's tree.</summary>
public interface ITree<TNode> {
    TNode Int(long number);
    TNode Str(string text);
    TNode Var(string name);
    TNode Let(string name, TNode value, TNode body);
    TNode Bin(string function, TNode left, TNode right);
    TNode Call(string function, TNode[] arguments);
    TNode Lambda(string[] parameters, TNode body);
    TNode If(TNode condition, TNode then, TNode otherwise);
}

/// <summary>The programs: the one that all languages share, and nested lets of any depth; and what they give.</summary>
public static class Text {
    /// <summary><c>probes/interp/program.json</c>, which lies outside what the tool carries of this probe.</summary>
    public const string Program = """
        ["let","range",["call","Int::range",[["int",1],["int",100]]],
        ["call","List::map",[["var","range"],["lambda",["i"],
        ["if",["bin","Int::==",["bin","Int::%",["var","i"],["int",15]],["int",0]],["str","fizzbuzz"],
        ["if",["bin","Int::==",["bin","Int::%",["var","i"],["int",5]],["int",0]],["str","buzz"],
        ["if",["bin","Int::==",["bin","Int::%",["var","i"],["int",3]],["int",0]],["str","fizz"],
        ["call","Int::toString",[["var","i"]]]]]]]]]]
        """;

    /// <summary>The tree of a text, or of nested lets where <paramref name="depth"/> is above 0.</summary>
    public static TNode Read<TNode>(string text, long depth, ITree<TNode> tree) {
        if (depth > 0) return Nested(depth, tree);
        using var json = JsonDocument.Parse(text);
        return Node(json.RootElement, tree);
    }

    private static TNode Node<TNode>(JsonElement json, ITree<TNode> tree) {
        TNode Of(int at) => Node(json[at], tree);
        string Word(int at) => json[at].GetString()!;
        return Word(0) switch {
            "int" => tree.Int(json[1].GetInt64()),
            "str" => tree.Str(Word(1)),
            "var" => tree.Var(Word(1)),
            "let" => tree.Let(Word(1), Of(2), Of(3)),
            "bin" => tree.Bin(Word(1), Of(2), Of(3)),
            "call" => tree.Call(Word(1), [.. json[2].EnumerateArray().Select(one => Node(one, tree))]),
            "lambda" => tree.Lambda([.. json[1].EnumerateArray().Select(one => one.GetString()!)], Of(2)),
            "if" => tree.If(Of(1), Of(2), Of(3)),
            _ => throw new ArgumentException($"no node of a program: {json}"),
        };
    }

    /// <summary><c>let x0 = 1 in let x1 = x0 in .. x_last</c>, made from the inside out.</summary>
    private static TNode Nested<TNode>(long depth, ITree<TNode> tree) {
        TNode body = tree.Var($"x{depth - 1}");
        for (long i = depth - 1; i >= 0; i--) {
            body = tree.Let($"x{i}", i == 0 ? tree.Int(1) : tree.Var($"x{i - 1}"), body);
        }
        return body;
    }

    /// <summary>The right output, by its definition.</summary>
    public static byte[] Output(long depth) {
        static string Word(int i) => (i % 15, i % 5, i % 3) switch {
            (0, _, _) => "fizzbuzz",
            (_, 0, _) => "buzz",
            (_, _, 0) => "fizz",
            _ => $"{i}",
        };
        return depth > 0 ? "1"u8.ToArray() : JsonSerializer.SerializeToUtf8Bytes(Enumerable.Range(1, 100).Select(Word));
    }

    /// <summary>Where an output first differs from the right one.</summary>
    public static string Difference(ReadOnlySpan<byte> got, ReadOnlySpan<byte> right) {
        int at = got.CommonPrefixLength(right);
        static string Part(ReadOnlySpan<byte> bytes) => Encoding.UTF8.GetString(bytes[..Math.Min(40, bytes.Length)]);
        return $"a request's output differs from byte {at} on: \"{Part(got[at..])}\", right is \"{Part(right[at..])}\" "
            + $"({got.Length} bytes, right are {right.Length})";
    }
}
