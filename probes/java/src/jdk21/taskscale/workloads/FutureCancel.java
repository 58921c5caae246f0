package taskscale.workloads;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import taskscale.sdk.Run;
import taskscale.sdk.Timing;
import taskscale.sdk.Variant;

/** {@code Future.cancel} of each task of an executor with a virtual thread for each, which is then closed. */
public final class FutureCancel implements Variant.Perform {
    /** Tasks that all wait. */
    private record Made(Cancel.Waiter waiter, List<Future<?>> futures, ExecutorService executor) {}

    @Override
    public Timing apply(Run run) throws Exception {
        return run.timeEach(() -> {
            Cancel.Waiter waiter = new Cancel.Waiter(Cancel.on(run.word("on")));
            List<Thread> threads = new ArrayList<>(run.size);
            ExecutorService executor = Executors.newThreadPerTaskExecutor(task -> {
                Thread thread = Thread.ofVirtual().unstarted(task);
                threads.add(thread);
                return thread;
            });
            List<Future<?>> futures = new ArrayList<>(run.size);
            for (int i = 0; i < run.size; i++) {
                futures.add(executor.submit(waiter));
            }
            Parked.untilAll(threads.toArray(Thread[]::new));
            if (Cancel.isNewest(run)) {
                Collections.reverse(futures);
            }
            return new Made(waiter, futures, executor);
        }, (phases, made) -> {
            long cancelled = 0;
            for (Future<?> future : made.futures) {
                cancelled += future.cancel(true) ? 1 : 0;
            }
            made.executor.close();
            return Math.min(cancelled, made.waiter.cancelled.get());
        });
    }
}
