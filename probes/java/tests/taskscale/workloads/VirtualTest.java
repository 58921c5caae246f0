package taskscale.workloads;

import static taskscale.workloads.InterpTest.same;

import java.lang.reflect.Field;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import taskscale.sdk.Probe;
import taskscale.sdk.Variant;

/** What needs virtual threads is said to be missing exactly where this JDK has none. */
final class VirtualTest {
    private static final Map<String, String> WHY = Map.of("reason", "virtual threads came with JDK 21", "remedy",
            "name a newer JDK: --runtime java@/path/to/jdk");
    /** Those that need them, and have another name. */
    private static final Set<String> OTHERS = Set.of("green", "outside/virtual");
    /** Those that need a still newer JDK, and say that. */
    private static final Set<String> NEWER = Set.of("virtual/ScopedValue");

    private VirtualTest() {}

    static void all() {
        InterpTest.test("virtual threads are found from JDK 21 on", () ->
                same(Runtime.version().feature() >= 21, Virtual.THREADS != null, "found"));
        InterpTest.test("what needs virtual threads is missing where there are none, and nothing else is", () -> {
            Fanout.declare();
            Parked.declare();
            Scale.declare();
            Set<String> expected = new TreeSet<>(), said = new TreeSet<>();
            for (var workload : workloads().entrySet()) {
                for (String name : variants(workload.getValue()).keySet()) {
                    boolean needs = OTHERS.contains(name) || name.startsWith("virtual/") && !NEWER.contains(name);
                    if (needs && Virtual.THREADS == null) {
                        expected.add(workload.getKey() + " " + name);
                    }
                    if (WHY.equals(about(variants(workload.getValue()).get(name)).get("unavailable"))) {
                        said.add(workload.getKey() + " " + name);
                    }
                }
            }
            same(expected, said, "missing");
        });
        InterpTest.test("every workload has a way without virtual threads", () -> {
            for (var workload : workloads().entrySet()) {
                long others = variants(workload.getValue()).entrySet().stream()
                        .filter(one -> !one.getKey().startsWith("virtual/") && !OTHERS.contains(one.getKey()))
                        .filter(one -> !about(one.getValue()).containsKey("unavailable"))
                        .count();
                same(true, others > 0, workload.getKey());
            }
        });
        InterpTest.test("a thread names what runs it", () -> {
            for (Threads kind : InterpTest.kinds()) {
                var named = new CompletableFuture<String>();
                Thread thread = kind.start(() -> named.complete(Count.worker()));
                String name = named.get();
                thread.join();
                same(true, name.startsWith(kind == Threads.PLATFORM ? "thread " : "ForkJoinPool"), name);
            }
        });
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> workloads() throws ReflectiveOperationException {
        return (Map<String, Object>) field(Probe.class, "WORKLOADS").get(null);
    }

    private static Field field(Class<?> of, String name) throws ReflectiveOperationException {
        Field field = of.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Variant> variants(Object workload) throws ReflectiveOperationException {
        return (Map<String, Variant>) field(workload.getClass(), "variants").get(workload);
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> about(Variant variant) {
        try {
            return (Map<String, Object>) field(Variant.class, "about").get(variant);
        } catch (ReflectiveOperationException changed) {
            throw new IllegalStateException(changed);
        }
    }
}
