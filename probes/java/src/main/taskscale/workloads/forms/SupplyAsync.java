package taskscale.workloads.forms;

import java.util.concurrent.CompletableFuture;
import taskscale.sdk.Phases;
import taskscale.workloads.Form;

/** {@code CompletableFuture.supplyAsync} for all, one {@code allOf}, then results in the order of creation. */
public final class SupplyAsync implements Form {
    @Override
    public void ordered(int from, int to, long[] slots, Phases phases) {
        @SuppressWarnings({"unchecked", "rawtypes"}) // Java has no arrays of generic types
        CompletableFuture<Long>[] futures = new CompletableFuture[to - from];
        for (int i = from; i < to; i++) {
            int task = i;
            Task.created();
            futures[i - from] = CompletableFuture.supplyAsync(() -> Task.result(task));
        }
        phases.created();
        CompletableFuture.allOf(futures).join();
        for (int i = from; i < to; i++) {
            slots[i] = futures[i - from].join();
        }
    }

    @Override
    public void discard(int from, int to, Phases phases) {
        CompletableFuture<?>[] futures = new CompletableFuture<?>[to - from];
        for (int i = from; i < to; i++) {
            int task = i;
            Task.created();
            futures[i - from] = CompletableFuture.runAsync(() -> Task.discard(task));
        }
        phases.created();
        CompletableFuture.allOf(futures).join();
    }
}
