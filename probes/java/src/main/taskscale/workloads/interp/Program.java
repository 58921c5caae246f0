package taskscale.workloads.interp;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import taskscale.sdk.Json;

/** The programs: the one that all languages share, and nested lets of any depth. */
final class Program {
    /** {@code probes/interp/program.json}, which lies outside the sources that the {@code taskscale} binary has. */
    static final String TEXT = """
            ["let","range",["call","Int::range",[["int",1],["int",100]]],\
            ["call","List::map",[["var","range"],["lambda",["i"],\
            ["if",["bin","Int::==",["bin","Int::%",["var","i"],["int",15]],["int",0]],["str","fizzbuzz"],\
            ["if",["bin","Int::==",["bin","Int::%",["var","i"],["int",5]],["int",0]],["str","buzz"],\
            ["if",["bin","Int::==",["bin","Int::%",["var","i"],["int",3]],["int",0]],["str","fizz"],\
            ["call","Int::toString",[["var","i"]]]]]]]]]]""";

    private static final Node[] SHARED = {parse(TEXT, false), parse(TEXT, true)};

    private Program() {}

    /** The shared program, or {@code depth} nested lets where that is above zero. */
    static Node of(boolean linked, long depth) {
        return depth == 0 ? SHARED[linked ? 1 : 0] : nested(depth);
    }

    /** Reads a program in JSON. With {@code linked} the tree holds the functions. */
    static Node parse(String text, boolean linked) {
        return node((List<?>) Json.read(text), linked);
    }

    private static Node node(Object json, boolean linked) {
        List<?> parts = (List<?>) json;
        return switch ((String) parts.get(0)) {
            case "int", "str" -> literal(parts.get(1));
            case "var" -> new Node.Var((String) parts.get(1));
            case "let" -> new Node.Let((String) parts.get(1), node(parts.get(2), linked), node(parts.get(3), linked));
            case "bin" -> new Node.Bin(callee(parts, linked), node(parts.get(2), linked), node(parts.get(3), linked));
            case "call" -> new Node.Call(callee(parts, linked), ((List<?>) parts.get(2)).stream().map(one -> node(one, linked)).toArray(Node[]::new));
            case "lambda" -> new Node.Lambda(((List<?>) parts.get(1)).toArray(String[]::new), node(parts.get(2), linked));
            case "if" -> new Node.If(node(parts.get(1), linked), node(parts.get(2), linked), node(parts.get(3), linked));
            default -> throw new IllegalArgumentException("no node of a program: " + Json.write(json));
        };
    }

    private static Node literal(Object value) {
        return new Node.Literal(value, CompletableFuture.completedFuture(value));
    }

    private static Node.Callee callee(List<?> parts, boolean linked) {
        String name = (String) parts.get(1);
        return new Node.Callee(name, linked ? Builtin.ALL.get(name) : null);
    }

    /** {@code let x0 = 1 in let x1 = x0 in .. x_last}, made from the inside out. */
    private static Node nested(long depth) {
        Node body = new Node.Var("x" + (depth - 1));
        for (long i = depth - 1; i >= 0; i--) {
            body = new Node.Let("x" + i, i == 0 ? literal(1L) : new Node.Var("x" + (i - 1)), body);
        }
        return body;
    }
}
