package taskscale.sdk;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a probe says of itself: declare the ways of doing a workload, then serve. The fields are those of protocol 1
 * ({@code probes/PROTOCOL.md}). A whole probe:
 *
 * <pre>
 * import java.util.stream.IntStream;
 * import taskscale.sdk.Probe;
 *
 * class MyPool {
 *     public static void main(String[] args) {
 *         Probe.variant("nop", "parallel", run ->
 *                 run.time(phases -> IntStream.range(0, run.size).parallel().map(i -> 1).sum())).createsTask(false);
 *         Probe.serve("mypool", "1.0");
 *     }
 * }
 * </pre>
 */
public final class Probe {
    static final long PROTOCOL = 1;
    static final Map<String, Workload> WORKLOADS = new LinkedHashMap<>();

    private Probe() {}

    /** Declares a way of doing a workload. What it returns takes more to be said of it. */
    public static Variant variant(String workload, String name, Variant.Perform perform) {
        Variant variant = new Variant(name, perform);
        WORKLOADS.computeIfAbsent(workload, Workload::new).variants().put(name, variant);
        return variant;
    }

    /** Declares a parameter of a workload: a flag, an unsigned integer or, with {@code choices}, a word. */
    public static void param(String workload, String name, Object initial, String help, String... choices) {
        Param param = new Param(name, Param.value(initial), List.of(choices), help);
        WORKLOADS.computeIfAbsent(workload, Workload::new).params().put(name, param);
    }

    /** As below, without saying how many workers the runtime has. */
    public static void serve(String name, String version) {
        serve(name, version, null);
    }

    /**
     * Serves the declared workloads as runtime {@code name} until standard input ends or says {@code exit}. Does not
     * return: it ends the process, with status 0, or 1 where a pipe failed.
     */
    public static void serve(String name, String version, Integer workers) {
        System.exit(new Server(() -> description(name, version, workers), name).serve());
    }

    /** The reply to {@code describe}. Measures the clocks' resolution, which takes some 10 ms. */
    private static Map<String, Object> description(String name, String version, Integer workers) {
        String machine = System.getProperty("java.vm.name") + " (" + System.getProperty("java.vm.vendor") + ")";
        Map<String, Object> runtime = new LinkedHashMap<>();
        runtime.put("name", name);
        runtime.put("language", "java");
        runtime.put("version", version);
        runtime.put("toolchain", machine);
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("type", "description");
        fields.put("protocol", PROTOCOL);
        fields.put("runtime", runtime);
        fields.put("clock", Map.of(
                "wall_resolution_ns", Clock.resolutionNs(Clock::wallNs),
                "cpu_resolution_ns", Clock.resolutionNs(Clock::cpuNs)));
        fields.put("workers", workers);
        // A fresh process compiles what it runs for seconds: the tool is to warm it up for longer after each start.
        fields.put("jit", true);
        fields.put("workloads", WORKLOADS.values().stream().map(Workload::description).toList());
        return fields;
    }
}
