package taskscale.workloads;

import taskscale.sdk.Phases;

/** A way of starting tasks and collecting what they give. Performs tasks {@code from} to {@code to}, exclusive. */
public interface Form {
    /** Each result into the slot of its task. */
    default void ordered(int from, int to, long[] slots, Phases phases) throws Exception {
        throw new UnsupportedOperationException("this form has no results in order");
    }

    /** The sum of the results of {@code size} tasks, taken as tasks finish; at most {@code window} are alive. */
    default long completion(int size, int window, Phases phases) throws Exception {
        throw new UnsupportedOperationException("this form has no results in the order of completion");
    }

    /** No results. */
    void discard(int from, int to, Phases phases) throws Exception;

    /** As {@link #ordered}, at most {@code window} tasks alive: batch after batch, unless a form can do better. */
    default void orderedWindowed(int size, int window, long[] slots, Phases phases) throws Exception {
        for (long from = 0; from < size; from += window) {
            ordered((int) from, (int) Math.min(size, from + window), slots, phases);
        }
    }

    /** As {@link #discard}, with at most {@code window} tasks alive. */
    default void discardWindowed(int size, int window, Phases phases) throws Exception {
        discardBatches(size, window, phases);
    }

    /** One batch of at most {@code live} tasks after another. */
    default void discardBatches(int size, int live, Phases phases) throws Exception {
        for (long from = 0; from < size; from += live) {
            discard((int) from, (int) Math.min(size, from + live), phases);
        }
    }
}
