package taskscale.sdk;

import java.util.*;

/**
 * What a {@code run} request asks for, and the timed loop. The tool has held it to the description before it was sent
 * ({@code probes/PROTOCOL.md}).
 */
public final class Run {
    /** One pass of a workload: does it, and returns its answer. Says when the last task was started, where it can. */
    public interface Iteration { long apply(Phases phases) throws Exception; }

    /** What makes, untimed, what one iteration needs; and one iteration with that, and what is done with it behind. */
    public interface Setup<T> { T make() throws Exception; }
    public interface Each<T> { long apply(Phases phases, T made) throws Exception; }
    public interface Teardown<T> { void end(T made) throws Exception; }

    /** How many tasks; at least 1. */
    public final int size;
    /**
     * How often the workload is repeated inside the timed part; what is fresh each round, at most 2^53 - 1; and what the
     * sample is to be called.
     */
    public final long iterations, seed, id;
    /** That the execution of every task is counted, by the task; that the share of creation is told. */
    public final boolean verify, phases;
    /** Which of the runtime's own counters are read: memory, collector, or null. */
    final Object counters;
    /** A value for every declared parameter. */
    public final Map<String, Object> params = new LinkedHashMap<>();
    final Variant.Perform perform;

    /**
     * Every declared parameter has the value given, or else its default, or where the variant excludes that, the first
     * value that it allows.
     */
    Run(Map<?, ?> message) {
        Probe.Workload workload = known(Probe.WORKLOADS, message.get("workload"), "workload");
        Variant variant = known(workload.variants(), message.get("variant"), "variant");
        perform = variant.perform;
        id = (Long) message.get("id");
        size = Math.toIntExact((Long) message.get("size"));
        iterations = (Long) message.get("iterations");
        seed = (Long) message.get("seed");
        Map<?, ?> given = message.containsKey("params") ? (Map<?, ?>) message.get("params") : Map.of();
        verify = Boolean.TRUE.equals(given.get("verify"));
        phases = Boolean.TRUE.equals(given.get("phases"));
        counters = given.get("counters");
        workload.params().forEach((name, param) -> {
            var allowed = variant.only.getOrDefault(name, List.of(param.get("default")));
            Object absent = allowed.contains(param.get("default")) ? param.get("default") : allowed.get(0);
            params.put(name, given.containsKey(name) ? given.get(name) : absent);
        });
    }

    /** The one of that name; throws where there is none. */
    private static <T> T known(Map<String, T> all, Object name, String what) {
        if (all.containsKey(name)) return all.get(name);
        throw new IllegalArgumentException(
                "unknown " + what + " " + Json.write(name) + "; known here: " + String.join(" ", all.keySet()));
    }

    /** The value of an integer parameter. */
    public long integer(String name) { return ((Number) params.get(name)).longValue(); }

    /** The value of a parameter that is a word. */
    public String word(String name) { return (String) params.get(name); }

    /**
     * Times {@code iterations} calls of {@code one}. One pair of clock readings lies around them all.
     */
    public Timing time(Iteration one) throws Exception { return time(iterations, one); }

    /** As above, {@code times} calls: where something untimed lies between iterations, each is timed for itself. */
    public Timing time(long times, Iteration one) throws Exception {
        Phases share = new Phases(phases);
        long answer = 0, cpu = Clock.cpuBeginNs(), wall = Clock.wallNs();
        for (long done = 0; done != times; done++) { share.begin(); answer += one.apply(share); }
        long wallEnd = Clock.wallNs(), cpuEnd = Clock.cpuEndNs();
        return new Timing(wallEnd - wall, cpuEnd - cpu, answer, share.extra());
    }

    /**
     * Times of each iteration {@code one} alone, which is given what {@code setup} made for it. What setting up took is told
     * beside. Clocks are read around each iteration, for some 50 us: let one take 100 us or more.
     */
    public <T> Timing timeEach(Setup<T> setup, Each<T> one) throws Exception { return timeEach(setup, one, made -> {}); }

    /** As above, with what is done behind each iteration, untimed too. */
    public <T> Timing timeEach(Setup<T> setup, Each<T> one, Teardown<T> teardown) throws Exception {
        Phases share = new Phases(phases);
        long answer = 0, wall = 0, cpu = 0, wallBegin = Clock.wallNs(), cpuBegin = Clock.cpuNs();
        for (long done = 0; done != iterations; done++) {
            T made = setup.make();
            long cpuBefore = Clock.cpuBeginNs(), wallBefore = Clock.wallNs();
            share.begin();
            answer += one.apply(share, made);
            wall += Clock.wallNs() - wallBefore;
            cpu += Clock.cpuEndNs() - cpuBefore;
            teardown.end(made);
        }
        long cpuRest = Clock.cpuNs() - cpuBegin - cpu, wallRest = Clock.wallNs() - wallBegin - wall;
        Map<String, Object> extra = share.extra();
        extra.put("setup_cpu_ns", Math.max(cpuRest, 0));
        extra.put("setup_wall_ns", Math.max(wallRest, 0));
        return new Timing(wall, cpu, answer, extra);
    }
}
