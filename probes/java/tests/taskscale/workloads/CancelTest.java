package taskscale.workloads;

import static taskscale.workloads.InterpTest.same;

import java.util.List;

/** What threads of {@code cancel} wait for ends by interruption, which each thread sees. */
final class CancelTest {
    private CancelTest() {}

    static void all() {
        InterpTest.test("threads that wait see that they are interrupted", () -> {
            for (String on : new String[] {"event", "timer", "lock"}) {
                for (Threads kind : InterpTest.kinds()) {
                    interrupted(on, kind);
                }
            }
        });
        Cancel.declare();
        InterpTest.test("every way of cancelling reaches every thread", () -> {
            for (String variant : InterpTest.here(List.of("platform/interrupt"), "virtual/interrupt", "virtual/Future.cancel")) {
                for (String on : new String[] {"event", "timer", "lock"}) {
                    same(153L, PingpongTest.timing("cancel", variant, 51, "on", on).answer(), variant + ", " + on);
                }
            }
        });
    }

    private static void interrupted(String on, Threads kind) throws InterruptedException {
        Cancel.Waiter waiter = new Cancel.Waiter(Cancel.on(on));
        Thread[] threads = new Thread[200];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = kind.start(waiter);
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
}
