package taskscale.workloads.forms;

import java.util.concurrent.CompletionService;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorCompletionService;
import taskscale.sdk.Phases;
import taskscale.workloads.Form;

/** An {@code ExecutorCompletionService}, drained as tasks finish; {@code discard} does not look at what they give. */
abstract class Completion implements Form {
    private final CompletionService<Long> service;

    Completion(Executor executor) {
        service = new ExecutorCompletionService<>(executor);
    }

    /** With a window, one is taken before the next is submitted. */
    @Override
    public long completion(int size, int window, Phases phases) throws Exception {
        long sum = 0;
        for (int i = 0; i < window; i++) {
            submit(i);
        }
        for (int i = window; i < size; i++) {
            sum += service.take().get();
            submit(i);
        }
        phases.created();
        for (int i = 0; i < window; i++) {
            sum += service.take().get();
        }
        return sum;
    }

    @Override
    public void discard(int from, int to, Phases phases) throws InterruptedException {
        for (int i = from; i < to; i++) {
            submitDiscarded(i);
        }
        phases.created();
        for (int i = from; i < to; i++) {
            service.take();
        }
    }

    @Override
    public void discardWindowed(int size, int window, Phases phases) throws InterruptedException {
        for (int i = 0; i < window; i++) {
            submitDiscarded(i);
        }
        for (int i = window; i < size; i++) {
            service.take();
            submitDiscarded(i);
        }
        phases.created();
        for (int i = 0; i < window; i++) {
            service.take();
        }
    }

    private void submit(int i) {
        Task.created();
        service.submit(() -> Task.result(i));
    }

    private void submitDiscarded(int i) {
        Task.created();
        service.submit(() -> Task.discard(i), null);
    }
}
