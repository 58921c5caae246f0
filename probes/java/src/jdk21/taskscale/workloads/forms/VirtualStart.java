package taskscale.workloads.forms;

import taskscale.sdk.Phases;
import taskscale.workloads.Form;

/** {@code Thread.startVirtualThread}, each thread writing its own slot, joined in the order of creation. */
public final class VirtualStart implements Form {
    @Override
    public void ordered(int from, int to, long[] slots, Phases phases) throws InterruptedException {
        Thread[] threads = new Thread[to - from];
        for (int i = from; i < to; i++) {
            Task.created();
            threads[i - from] = intoSlot(i, slots);
        }
        phases.created();
        join(threads);
    }

    @Override
    public void discard(int from, int to, Phases phases) throws InterruptedException {
        Thread[] threads = new Thread[to - from];
        for (int i = from; i < to; i++) {
            Task.created();
            threads[i - from] = discarded(i);
        }
        phases.created();
        join(threads);
    }

    /** The oldest is joined before the next is started. */
    @Override
    public void orderedWindowed(int size, int window, long[] slots, Phases phases) throws InterruptedException {
        Thread[] threads = new Thread[window];
        for (int i = 0; i < size; i++) {
            if (i >= window) {
                threads[i % window].join();
            }
            Task.created();
            threads[i % window] = intoSlot(i, slots);
        }
        phases.created();
        join(threads);
    }

    @Override
    public void discardWindowed(int size, int window, Phases phases) throws InterruptedException {
        Thread[] threads = new Thread[window];
        for (int i = 0; i < size; i++) {
            if (i >= window) {
                threads[i % window].join();
            }
            Task.created();
            threads[i % window] = discarded(i);
        }
        phases.created();
        join(threads);
    }

    private static Thread intoSlot(int i, long[] slots) {
        return Thread.startVirtualThread(() -> slots[i] = Task.result(i));
    }

    private static Thread discarded(int i) {
        return Thread.startVirtualThread(() -> Task.discard(i));
    }

    private static void join(Thread[] threads) throws InterruptedException {
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
