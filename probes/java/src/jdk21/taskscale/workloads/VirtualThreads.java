package taskscale.workloads;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Virtual threads, as this JDK makes them. */
public final class VirtualThreads extends Virtual {
    @Override
    public Thread start(Runnable task) {
        return Thread.startVirtualThread(task);
    }

    @Override
    ExecutorService executor() {
        return Executors.newVirtualThreadPerTaskExecutor();
    }

    /** Of a virtual thread only its text names it, behind an @. */
    @Override
    String carrier() {
        Thread thread = Thread.currentThread();
        return thread.isVirtual() ? thread.toString().replaceFirst(".*@", "") : "thread " + thread.threadId();
    }
}
