package taskscale.workloads;

import static taskscale.workloads.InterpTest.same;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import taskscale.sdk.Run;
import taskscale.sdk.Timing;

/** Every token of {@code pingpong} comes back. */
final class PingpongTest {
    private PingpongTest() {}

    static void all() {
        Pingpong.declare();
        InterpTest.test("every token comes back", () -> {
            for (String kind : InterpTest.here(List.of("platform/"), "virtual/")) {
                for (String form : List.of("SynchronousQueue", "Condition", "park")) {
                    // 51 trips do not divide evenly by 4; of 60 pairs some have none.
                    for (long pairs : new long[] {1, 4, 60}) {
                        same(153L, answer("pingpong", kind + form, "pairs", pairs), kind + form + ", " + pairs);
                    }
                }
            }
        });
    }

    /** Three times a size of 51, as a line of JSON would ask for it. */
    static long answer(String workload, String variant, String param, long value) throws Exception {
        return timing(workload, variant, 51, param, value).answer();
    }

    /** The same of another size. */
    static Timing timing(String workload, String variant, long size, String param, Object value) throws Exception {
        var made = Run.class.getDeclaredConstructor(Map.class);
        made.setAccessible(true);
        Run run = made.newInstance(new TreeMap<>(Map.of("workload", workload, "variant", variant, "id", 1L, "size", size,
                "iterations", 3L, "seed", 7L, "params", Map.of(param, value))));
        var perform = Run.class.getDeclaredField("perform");
        perform.setAccessible(true);
        return ((taskscale.sdk.Variant.Perform) perform.get(run)).apply(run);
    }
}
