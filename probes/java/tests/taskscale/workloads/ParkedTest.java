package taskscale.workloads;

import static taskscale.workloads.InterpTest.same;

/** That all threads of {@code parked} wait at once is made sure of, and what does not wait is found. */
final class ParkedTest {
    private ParkedTest() {}

    static void all() {
        InterpTest.test("all threads wait at once, and are woken", () -> {
            for (Threads kind : InterpTest.kinds()) {
                Parked.Waiting waiting = new Parked.Waiting(new Parked.Event());
                Thread[] threads = new Thread[500];
                for (int i = 0; i < threads.length; i++) {
                    threads[i] = kind.start(waiting);
                }
                waiting.untilAll(threads);
                for (Thread thread : threads) {
                    same(Thread.State.WAITING, thread.getState(), "state");
                }
                same(0L, waiting.woken.get(), "woken before");
                waiting.on.wake(threads);
                for (Thread thread : threads) {
                    thread.join();
                }
                same(500L, waiting.woken.get(), "woken");
            }
        });
        InterpTest.test("a thread that does not wait is found", () -> {
            Parked.Waiting waiting = new Parked.Waiting(new Parked.Event());
            Thread ended = Threads.PLATFORM.start(() -> {});
            ended.join();
            Thread[] threads = {Threads.PLATFORM.start(waiting), ended};
            same("a thread of 2 ended before it was woken", said(waiting, threads), "one ended");
            Thread[] one = {threads[0]};
            waiting.woken.incrementAndGet();
            same("1 of 1 threads went on before they were woken", said(waiting, one), "one went on");
            waiting.on.wake(one);
        });
    }

    private static String said(Parked.Waiting waiting, Thread[] threads) throws InterruptedException {
        try {
            waiting.untilAll(threads);
            return "nothing";
        } catch (IllegalStateException found) {
            return found.getMessage();
        }
    }
}
