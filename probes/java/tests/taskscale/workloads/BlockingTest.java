package taskscale.workloads;

import static taskscale.workloads.InterpTest.same;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import taskscale.sdk.Run;
import taskscale.sdk.Timing;

/** That every call of {@code blocking} blocks, and that waits are told. */
final class BlockingTest {
    private BlockingTest() {}

    static void all() {
        InterpTest.test("every call blocks, and waits are told", () -> {
            Blocking.declare();
            var made = Run.class.getDeclaredConstructor(Map.class);
            made.setAccessible(true);
            Run run = made.newInstance(Map.of("workload", "blocking", "variant", "platform/without", "id", 1L, "size", 9L,
                    "iterations", 2L, "seed", 1L, "params", Map.of("block_us", 2_000L, "every", 4L)));
            List<Blocking.Start> starts = new ArrayList<>(List.of(Pools.fixed()::execute));
            InterpTest.kinds().forEach(kind -> starts.add(kind::start));
            for (Blocking.Start start : starts) {
                held(Blocking.perform(run, start, null), 0L);
                held(Blocking.perform(run, start, Blocking::sleep), 6L);
                held(Blocking.perform(run, start, Blocking::elsewhere), 6L);
                if (Blocking.Native.SLEEP != null) {
                    held(Blocking.perform(run, start, Blocking.Native.SLEEP), 6L);
                }
            }
        });
    }

    private static void held(Timing timing, long blocked) {
        Map<String, Object> told = timing.extra();
        same(18L, timing.answer(), "answer");
        same(blocked, told.get("blocked"), "blocked");
        long p50 = (Long) told.get("wait_p50_ns"), p99 = (Long) told.get("wait_p99_ns");
        same(true, p50 > 0 && p50 <= p99 && p99 <= (Long) told.get("wait_max_ns"), told.toString());
        // Each iteration lasts at least as long as one call.
        same(true, blocked == 0 || timing.wallNs() >= 2 * 2_000_000, timing.toString());
    }
}
