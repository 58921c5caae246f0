package taskscale.workloads.forms;

import java.util.concurrent.Executors;

/** An {@code ExecutorCompletionService} on an executor with a virtual thread per task. */
public final class VirtualCompletion extends Completion {
    public VirtualCompletion() {
        super(Executors.newVirtualThreadPerTaskExecutor());
    }
}
