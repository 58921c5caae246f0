package taskscale.sdk;

import java.util.*;

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
    /** What {@code param} and {@code variant} declared, in that order. */
    static final Map<String, Workload> WORKLOADS = new LinkedHashMap<>();

    record Workload(Map<String, Map<String, Object>> params, Map<String, Variant> variants) {}

    /** Declares a parameter of a workload: a flag, an unsigned integer or, with {@code choices}, a word. */
    public static void param(String workload, String name, Object initial, String help, String... choices) {
        var about = Json.object("name", name, "default", initial, "choices", List.of(choices), "help", help);
        declare(workload).params.put(name, about);
    }

    /** Declares a way of doing a workload. What it returns takes more to be said of it. */
    public static Variant variant(String workload, String name, Variant.Perform perform) {
        declare(workload).variants.put(name, new Variant(name, perform));
        return declare(workload).variants.get(name);
    }

    /** The workload of that name, which the first that is declared of it makes. */
    private static Workload declare(String name) {
        return WORKLOADS.computeIfAbsent(name, absent -> new Workload(new LinkedHashMap<>(), new LinkedHashMap<>()));
    }

    /** The reply to {@code describe}. Measures the clocks' resolution, which takes some 10 ms. */
    static Map<String, Object> description(String name, String version, Integer workers) {
        var machine = System.getProperty("java.vm.name") + " (" + System.getProperty("java.vm.vendor") + ")";
        var runtime = Json.object("name", name, "language", "java", "version", version, "toolchain", machine);
        var all = WORKLOADS.entrySet().stream().map(one -> Json.object(
                "name", one.getKey(), "params", one.getValue().params.values(),
                "variants", one.getValue().variants.values().stream().map(variant -> variant.about).toList()));
        // jit: a fresh process compiles what it runs for seconds; the tool is to warm it up for longer after each start.
        // settle_ms: of CPU time; before it, what levels off costs up to 20 times as much (README.md, "Warm-up").
        return Json.object("type", "description", "protocol", PROTOCOL, "runtime", runtime, "clock",
                Json.object("wall_resolution_ns", Clock.resolutionNs(Clock::wallNs), "cpu_resolution_ns",
                        Clock.resolutionNs(Clock::cpuNs)), "workers", workers, "jit", true, "settle_ms", 1_000L, "counters", Counters.all(), "workloads", all.toList());
    }

    /** As below, without saying how many workers the runtime has. */
    public static void serve(String name, String version) { serve(name, version, null); }

    /**
     * Serves the declared workloads as runtime {@code name} until standard input ends or says {@code exit}. Does not
     * return: it ends the process.
     */
    public static void serve(String name, String version, Integer workers) { Serve.loop(name, version, workers); }
}
