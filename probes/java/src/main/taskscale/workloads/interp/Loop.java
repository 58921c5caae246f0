package taskscale.workloads.interp;

import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/** The scheduler of the encodings of one thread: what is handed to it runs when that thread comes back to it. */
final class Loop implements Executor {
    private final ArrayDeque<Runnable> ready = new ArrayDeque<>();

    @Override
    public void execute(Runnable one) { ready.add(one); }

    /** Runs what is ready until a future has its value. */
    Object value(CompletableFuture<Object> future) {
        while (!future.isDone()) {
            ready.remove().run();
        }
        return future.join();
    }
}
