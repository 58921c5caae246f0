package taskscale.workloads.forms;

import taskscale.workloads.Pools;

/** An {@code ExecutorCompletionService} on the fixed pool. */
public final class FixedCompletion extends Completion {
    public FixedCompletion() {
        super(Pools.fixed());
    }
}
