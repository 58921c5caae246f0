package taskscale.workloads.forms;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.StructuredTaskScope;
import java.util.concurrent.StructuredTaskScope.Subtask;
import taskscale.sdk.Phases;
import taskscale.workloads.Form;

/**
 * {@code StructuredTaskScope} (JEP 505), results read from the subtasks after the join. With a window, one scope after
 * another. Only what JEP 505 and its successor share, so that a later JDK compiles it too.
 */
public final class StructuredScope implements Form {
    @Override
    public void ordered(int from, int to, long[] slots, Phases phases) throws InterruptedException {
        try (var scope = StructuredTaskScope.<Long>open()) {
            List<Subtask<Long>> subtasks = new ArrayList<>(to - from);
            for (int i = from; i < to; i++) {
                int task = i;
                Task.created();
                subtasks.add(scope.fork(() -> Task.result(task)));
            }
            phases.created();
            scope.join();
            for (int i = from; i < to; i++) {
                slots[i] = subtasks.get(i - from).get();
            }
        }
    }

    @Override
    public void discard(int from, int to, Phases phases) throws InterruptedException {
        try (var scope = StructuredTaskScope.open()) {
            for (int i = from; i < to; i++) {
                int task = i;
                Task.created();
                scope.fork(() -> Task.discard(task));
            }
            phases.created();
            scope.join();
        }
    }
}
