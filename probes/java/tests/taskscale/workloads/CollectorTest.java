package taskscale.workloads;

import static taskscale.workloads.InterpTest.same;

import java.util.List;
import java.util.Map;
import taskscale.sdk.Run;
import taskscale.sdk.Timing;

/** What may not be collected is not, and a collection fails the request. */
final class CollectorTest {
    private static Object kept;

    private CollectorTest() {}

    static void all() {
        InterpTest.test("what is not collected says so, and begins with an empty young generation", () -> {
            kept = new byte[1 << 10][1 << 16];
            long before = used();
            kept = null;
            Timing timing = Collector.uncollected(run(), () -> {
                same(true, used() < before - (32 << 20), "emptied");
                return run().time(phases -> 3);
            });
            same(6L, timing.answer(), "answer");
            same(List.of(0L), timing.extra().get("gc_collections"), "collections");
        });
        InterpTest.test("a collection fails the request, with what ran out and what to do", () -> {
            String said = failed(() -> run().time(phases -> { System.gc(); return 3; }));
            same(true, said.matches("the collector ran all the same \\(collections: [1-9]\\d*\\): the young generation of a heap"
                    + " of \\d+ MB ran out \\(3 tasks, 2 times\\); ask for fewer tasks \\(--size\\), or for java"), said);
            // More than any young generation of this test holds.
            said = failed(() -> run().time(phases -> { fill(Runtime.getRuntime().maxMemory()); return 3; }));
            same(true, said.contains(" ran out "), said);
        });
    }

    private static void fill(long bytes) {
        for (long filled = 0; filled < bytes; filled += 1 << 16) {
            kept = new byte[1 << 16];
        }
    }

    private static long used() { return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory(); }

    private static String failed(Collector.Timed timed) throws Exception {
        try {
            Collector.uncollected(run(), timed);
            return "nothing";
        } catch (IllegalStateException found) {
            return found.getMessage();
        }
    }

    /** Three tasks, twice. */
    static Run run() throws Exception {
        var made = Run.class.getDeclaredConstructor(Map.class);
        made.setAccessible(true);
        return made.newInstance(Map.of("workload", "nop", "variant", "virtual/executor", "id", 1L, "size", 3L,
                "iterations", 2L, "seed", 1L));
    }
}
