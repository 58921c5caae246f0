package taskscale.workloads;

/** What a task does, and what is done around it. */
public interface Body {
    /** The result of task {@code i}. */
    long result(int i);

    /** Called by the creator before it creates a task. */
    default void created() {}

    /** Task {@code i} where nobody wants its result. */
    default void discard(int i) {
        Kernel.discard(result(i));
    }

    /** The answer of results in the order of their tasks. */
    default long answer(long[] results) {
        long sum = 0;
        for (long result : results) {
            sum += result;
        }
        return sum;
    }

    /** The answer of {@code size} tasks without results. */
    default long discarded(int size) {
        return size;
    }

    /** Gives {@code 31 * i}. */
    final class Plain implements Body {
        @Override
        public long result(int i) {
            return Kernel.product(i);
        }
    }

    /** Gives {@code spin(seed + i, work)}. */
    final class Spun implements Body {
        long seed;
        long work;

        @Override
        public long result(int i) {
            return Kernel.spin(seed + i, work);
        }
    }

    /** Does nothing, and gives 1. */
    final class Nothing implements Body {
        @Override
        public long result(int i) {
            return 1;
        }

        @Override
        public void discard(int i) {}
    }

    /** Another one, counted. */
    final class Counted implements Body {
        Body body;
        Count count;

        @Override
        public long result(int i) {
            long result = body.result(i);
            count.executed(result);
            return result;
        }

        @Override
        public void created() {
            count.created();
        }

        @Override
        public long answer(long[] results) {
            // A sum alone would not show that results lie in the wrong places.
            for (int i = 0; i < results.length; i++) {
                if (results[i] != body.result(i)) {
                    throw new IllegalStateException("result " + i + " is " + results[i] + ", not " + body.result(i));
                }
            }
            return Body.super.answer(results);
        }

        @Override
        public long discarded(int size) {
            return count.takeSum();
        }
    }
}
