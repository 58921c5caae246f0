package taskscale.workloads;

import static taskscale.workloads.InterpTest.same;

import taskscale.sdk.Run;
import taskscale.sdk.Timing;

/** Iterations that are set up untimed. */
final class TimingTest {
    private static long made, ended;

    private TimingTest() {}

    static void all() {
        InterpTest.test("what is set up untimed is made anew and told beside", () -> {
            Run run = CollectorTest.run();
            Timing timing = run.timeEach(TimingTest::make, (phases, made) -> made, made -> ended += made);
            same(30L, timing.answer(), "answer");
            same(30L, ended, "ended");
            same(true, (Long) timing.extra().get("setup_wall_ns") >= 6_000_000, timing.toString());
            same(true, timing.extra().containsKey("setup_cpu_ns"), timing.toString());
        });
    }

    private static long make() throws InterruptedException {
        Thread.sleep(3);
        return made += 10;
    }
}
