package taskscale.workloads;

import static taskscale.workloads.InterpTest.same;

/** What threads of {@code cancel} wait for ends by interruption, which each thread sees. */
final class CancelTest {
    private CancelTest() {}

    static void all() {
        InterpTest.test("threads that wait see that they are interrupted", () -> {
            for (String on : new String[] {"event", "timer", "lock"}) {
                Cancel.Waiter waiter = new Cancel.Waiter(Cancel.on(on));
                Thread[] threads = new Thread[200];
                for (int i = 0; i < threads.length; i++) {
                    threads[i] = Thread.startVirtualThread(waiter);
                }
                Parked.untilAll(threads);
                same(0L, waiter.cancelled.get(), on + ", before");
                for (Thread thread : threads) {
                    thread.interrupt();
                }
                for (Thread thread : threads) {
                    thread.join();
                }
                same(200L, waiter.cancelled.get(), on);
            }
        });
    }
}
