package taskscale.workloads.forms;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.RecursiveTask;
import taskscale.sdk.Phases;
import taskscale.workloads.Form;
import taskscale.workloads.Pools;

/**
 * One {@code RecursiveTask} per unit, all given to one {@code invokeAll} inside the pool, which forks them and gives
 * nothing back before the last is done: hence no share of creation.
 */
public final class ForkJoinAll implements Form {
    @Override
    public void ordered(int from, int to, long[] slots, Phases phases) {
        Pools.forkJoin().invoke(new RecursiveAction() {
            @Override
            protected void compute() {
                List<Result> tasks = new ArrayList<>(to - from);
                for (int i = from; i < to; i++) {
                    Task.created();
                    tasks.add(new Result(i));
                }
                ForkJoinTask.invokeAll(tasks);
                for (int i = from; i < to; i++) {
                    slots[i] = tasks.get(i - from).join();
                }
            }
        });
    }

    @Override
    public void discard(int from, int to, Phases phases) {
        Pools.forkJoin().invoke(new RecursiveAction() {
            @Override
            protected void compute() {
                List<Discarded> tasks = new ArrayList<>(to - from);
                for (int i = from; i < to; i++) {
                    Task.created();
                    tasks.add(new Discarded(i));
                }
                ForkJoinTask.invokeAll(tasks);
            }
        });
    }

    private static final class Result extends RecursiveTask<Long> {
        private static final long serialVersionUID = 1;
        private final int i;

        Result(int i) {
            this.i = i;
        }

        @Override
        protected Long compute() {
            return Task.result(i);
        }
    }

    private static final class Discarded extends RecursiveAction {
        private static final long serialVersionUID = 1;
        private final int i;

        Discarded(int i) {
            this.i = i;
        }

        @Override
        protected void compute() {
            Task.discard(i);
        }
    }
}
