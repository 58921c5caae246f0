package taskscale.workloads.forms;

import java.util.concurrent.RecursiveAction;
import taskscale.sdk.Phases;
import taskscale.workloads.Form;
import taskscale.workloads.Pools;

/**
 * A {@code RecursiveAction} that halves its range down to one unit: {@code invokeAll} of two forks one and runs the
 * other itself, so that there are as many forks as units, less one, but half of the units are run unforked.
 */
public final class ForkJoinSplit implements Form {
    @Override
    public void ordered(int from, int to, long[] slots, Phases phases) {
        Pools.forkJoin().invoke(new Range(from, to, slots));
    }

    @Override
    public void discard(int from, int to, Phases phases) {
        Pools.forkJoin().invoke(new Discarded(from, to));
    }

    private static final class Range extends RecursiveAction {
        private static final long serialVersionUID = 1;
        private final int from;
        private final int to;
        private final long[] slots;

        Range(int from, int to, long[] slots) {
            this.from = from;
            this.to = to;
            this.slots = slots;
            if (to - from == 1) {
                Task.created();
            }
        }

        @Override
        protected void compute() {
            if (to - from == 1) {
                slots[from] = Task.result(from);
            } else {
                int middle = (from + to) >>> 1;
                invokeAll(new Range(from, middle, slots), new Range(middle, to, slots));
            }
        }
    }

    private static final class Discarded extends RecursiveAction {
        private static final long serialVersionUID = 1;
        private final int from;
        private final int to;

        Discarded(int from, int to) {
            this.from = from;
            this.to = to;
            if (to - from == 1) {
                Task.created();
            }
        }

        @Override
        protected void compute() {
            if (to - from == 1) {
                Task.discard(from);
            } else {
                int middle = (from + to) >>> 1;
                invokeAll(new Discarded(from, middle), new Discarded(middle, to));
            }
        }
    }
}
