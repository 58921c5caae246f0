package taskscale.workloads.forms;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import taskscale.sdk.Phases;
import taskscale.workloads.Form;
import taskscale.workloads.Pools;

/** A fixed pool's {@code invokeAll}, which gives nothing back before all is done: hence no share of creation. */
public final class FixedInvokeAll implements Form {
    @Override
    public void ordered(int from, int to, long[] slots, Phases phases) throws Exception {
        List<Callable<Long>> tasks = new ArrayList<>(to - from);
        for (int i = from; i < to; i++) {
            int task = i;
            Task.created();
            tasks.add(() -> Task.result(task));
        }
        List<Future<Long>> futures = Pools.fixed().invokeAll(tasks);
        for (int i = from; i < to; i++) {
            slots[i] = futures.get(i - from).get();
        }
    }

    @Override
    public void discard(int from, int to, Phases phases) throws Exception {
        List<Callable<Object>> tasks = new ArrayList<>(to - from);
        for (int i = from; i < to; i++) {
            int task = i;
            Task.created();
            tasks.add(Executors.callable(() -> Task.discard(task)));
        }
        Pools.fixed().invokeAll(tasks);
    }
}
