package taskscale.workloads;

import java.util.concurrent.ThreadFactory;

/** Threads of a kind: the system's, or {@link Virtual} ones. */
interface Threads {
    /** A thread of the system for each. */
    Threads PLATFORM = task -> {
        Thread thread = new Thread(task);
        thread.start();
        return thread;
    };

    /** The same, which do not keep the process from its end. */
    Threads DAEMONS = task -> {
        Thread thread = daemon(task);
        thread.start();
        return thread;
    };

    /** Those of pools. */
    ThreadFactory FACTORY = Threads::daemon;

    /** A started thread that runs {@code task}. */
    Thread start(Runnable task);

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        return thread;
    }
}
