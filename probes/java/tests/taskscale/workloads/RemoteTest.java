package taskscale.workloads;

import static taskscale.workloads.InterpTest.same;

import java.util.List;

/** Every task of {@code remote} runs, whatever thread it comes from. */
final class RemoteTest {
    private static final List<String> VARIANTS = InterpTest.here(
            List.of("forkjoin/execute", "forkjoin/local", "fixed/execute"), "virtual/start", "virtual/execute", "virtual/local");

    private RemoteTest() {}

    static void all() {
        Remote.declare();
        InterpTest.test("every task from outside runs", () -> {
            for (String variant : VARIANTS) {
                // 51 tasks do not divide evenly by 4; of 64 producers some have none.
                for (long producers : new long[] {1, 4, 64}) {
                    same(153L, PingpongTest.answer("remote", variant, "producers", producers), variant + ", " + producers);
                }
            }
        });
        InterpTest.test("another number of producers is refused", () -> {
            for (String variant : VARIANTS) {
                String said = null;
                try {
                    PingpongTest.answer("remote", variant, "producers", 65);
                } catch (IllegalArgumentException refused) {
                    said = refused.getMessage();
                }
                same("producers is 65; give 1 to 64", said, variant);
            }
        });
    }
}
