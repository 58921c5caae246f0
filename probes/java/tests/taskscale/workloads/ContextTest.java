package taskscale.workloads;

import static taskscale.workloads.InterpTest.same;

import java.util.ArrayList;
import java.util.List;

/** Each thread of {@code context} has its own values. */
final class ContextTest {
    private ContextTest() {}

    static void all() {
        Context.declare();
        List<String> variants = new ArrayList<>(
                InterpTest.here(List.of("platform/InheritableThreadLocal/start"),
                        "virtual/ThreadLocal", "virtual/InheritableThreadLocal/start"));
        if (Runtime.version().feature() >= 25) {
            variants.add("virtual/ScopedValue");
        }
        InterpTest.test("each thread has its own values", () -> {
            for (String variant : variants) {
                for (long variables : new long[] {0, 1, 8}) {
                    same(153L, answer(variant, variables), variant + ", " + variables);
                }
            }
        });
        InterpTest.test("another number of variables is refused", () -> {
            for (String variant : variants) {
                String said = null;
                try {
                    answer(variant, 3);
                } catch (IllegalArgumentException refused) {
                    said = refused.getMessage();
                }
                same("variables is 3; give 0, 1 or 8", said, variant);
            }
        });
    }

    /** Three times 51 awaits. */
    private static long answer(String variant, long variables) throws Exception {
        return PingpongTest.answer("context", variant, "variables", variables);
    }
}
