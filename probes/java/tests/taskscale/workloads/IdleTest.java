package taskscale.workloads;

import static taskscale.workloads.InterpTest.same;

import java.util.List;
import java.util.Map;

/** Each task of {@code idle} arrives, at its time. */
final class IdleTest {
    private static final List<String> VARIANTS =
            InterpTest.here(List.of("ScheduledThreadPool/schedule", "outside/fixed_pool"), "virtual/sleep", "outside/virtual");

    private IdleTest() {}

    static void all() {
        Idle.declare();
        InterpTest.test("every task arrives at its time", () -> {
            // 20 ms at 1,000 and 100 a second, 100 ms at 10.
            Map<Long, Long> sizes = Map.of(1000L, 20L, 100L, 20L, 10L, 100L);
            for (String variant : VARIANTS) {
                for (var one : sizes.entrySet()) {
                    var timing = PingpongTest.timing("idle", variant, one.getValue(), "rate", one.getKey());
                    same(3 * one.getValue(), timing.answer(), variant + ", " + one);
                    same(true, timing.wallNs() >= 3_000_000 * one.getValue(), variant + ", " + one + ": " + timing);
                }
            }
        });
        InterpTest.test("another rate, and a size that it does not divide, are refused", () -> {
            for (String variant : VARIANTS) {
                same("rate is 50; give 1, 10, 100 or 1000", refused(variant, 50), variant);
                same("in 51 ms no whole number of tasks arrives at 100 a second", refused(variant, 100), variant);
            }
        });
    }

    private static String refused(String variant, long rate) throws Exception {
        try {
            PingpongTest.timing("idle", variant, 51, "rate", rate);
            return null;
        } catch (IllegalArgumentException why) {
            return why.getMessage();
        }
    }
}
