package taskscale.workloads.interp;

import java.util.concurrent.CompletableFuture;

/** A node of the tree. */
sealed interface Node {
    /** An integer or a string. {@code completed} is what the encoding {@code async/cached} gives for it. */
    record Literal(Object value, CompletableFuture<Object> completed) implements Node {}

    record Var(String name) implements Node {}

    record Let(String name, Node value, Node body) implements Node {}

    record Bin(Callee function, Node left, Node right) implements Node {}

    record Call(Callee function, Node[] arguments) implements Node {}

    record Lambda(String[] params, Node body) implements Node {}

    record If(Node condition, Node then, Node otherwise) implements Node {}

    /** How a call names its function. {@code linked}: it was looked up after parsing; else null. */
    record Callee(String name, Builtin linked) {}
}
