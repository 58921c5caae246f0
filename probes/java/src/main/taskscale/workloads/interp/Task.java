package taskscale.workloads.interp;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Function;
import taskscale.workloads.Pools;

/** {@code task}: as {@code async}; every node is evaluated in a task of the pool. */
public final class Task extends Async {
    private static final ForkJoinPool POOL = Pools.forkJoin();

    public Task(boolean linked, long depth, long every) { super(linked, depth, every); }

    Task(Node program, long every) { super(program, every); }

    @Override
    public Object request() throws Exception {
        if (COUNTS) {
            count.taken();
        }
        return eval(program, null).join();
    }

    @Override
    Executor scheduler() { return POOL; }

    @Override
    CompletableFuture<Object> eval(Node node, Env env) {
        return CompletableFuture.supplyAsync(() -> super.eval(node, env), POOL).thenCompose(Function.identity());
    }
}
