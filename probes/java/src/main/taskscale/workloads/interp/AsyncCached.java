package taskscale.workloads.interp;

import java.util.concurrent.CompletableFuture;

/** {@code async/cached}: as {@code async}; a literal has a future that was completed when the tree was made. */
public final class AsyncCached extends Async {
    public AsyncCached(boolean linked, long depth, long every) { super(linked, depth, every); }

    AsyncCached(Node program, long every) { super(program, every); }

    @Override
    CompletableFuture<Object> literal(Node.Literal literal) { return literal.completed(); }
}
