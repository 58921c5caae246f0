package taskscale.workloads.forms;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import taskscale.sdk.Phases;
import taskscale.workloads.Form;

/** {@code newVirtualThreadPerTaskExecutor}, futures asked in the order of submission. */
public final class VirtualExecutor implements Form {
    private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();

    @Override
    public void ordered(int from, int to, long[] slots, Phases phases) throws Exception {
        List<Future<Long>> futures = new ArrayList<>(to - from);
        for (int i = from; i < to; i++) {
            Task.created();
            futures.add(submit(i));
        }
        phases.created();
        for (int i = from; i < to; i++) {
            slots[i] = futures.get(i - from).get();
        }
    }

    /** No futures: an executor of its own, whose close waits for all. */
    @Override
    public void discard(int from, int to, Phases phases) {
        try (ExecutorService all = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = from; i < to; i++) {
                int task = i;
                Task.created();
                all.execute(() -> Task.discard(task));
            }
            phases.created();
        }
    }

    /** The oldest is awaited before the next is submitted. */
    @Override
    public void orderedWindowed(int size, int window, long[] slots, Phases phases) throws Exception {
        Queue<Future<Long>> futures = new ArrayDeque<>(window);
        int collected = 0;
        for (int i = 0; i < size; i++) {
            if (i >= window) {
                slots[collected++] = futures.remove().get();
            }
            Task.created();
            futures.add(submit(i));
        }
        phases.created();
        while (collected < size) {
            slots[collected++] = futures.remove().get();
        }
    }

    @Override
    public void discardWindowed(int size, int window, Phases phases) throws Exception {
        Queue<Future<?>> futures = new ArrayDeque<>(window);
        for (int i = 0; i < size; i++) {
            if (i >= window) {
                futures.remove().get();
            }
            int task = i;
            Task.created();
            futures.add(executor.submit(() -> Task.discard(task)));
        }
        phases.created();
        while (!futures.isEmpty()) {
            futures.remove().get();
        }
    }

    private Future<Long> submit(int i) {
        return executor.submit(() -> Task.result(i));
    }
}
