package taskscale.sdk;

import java.util.Map;
import java.util.TreeMap;

/** What a {@code run} request asks for, and the timed loop. */
public final class Run {
    /** One pass of a workload: does it, and returns its answer. Says when the last task was started, where it can. */
    public interface Iteration {
        long apply(Phases phases) throws Exception;
    }

    /** How many tasks; at least 1. */
    public final int size;
    /** How often the workload is repeated inside the timed part; at least 1, unsigned. */
    public final long iterations;
    /** Fresh each round; at most 2^53 - 1. */
    public final long seed;
    /** Asks that the execution of every task is counted, by the task; the time is not kept. */
    public final boolean verify;
    /** Asks that the share of creation is told. */
    public final boolean phases;
    /** A value for every declared parameter. Integers are unsigned {@code Long}s. */
    public final Map<String, Object> params;

    Run(int size, long iterations, long seed, boolean verify, boolean phases, Map<String, Object> params) {
        this.size = size;
        this.iterations = iterations;
        this.seed = seed;
        this.verify = verify;
        this.phases = phases;
        this.params = params;
    }

    /** The value of an integer parameter, unsigned. */
    public long integer(String name) {
        return (Long) params.get(name);
    }

    /** The value of a parameter that is a word. */
    public String word(String name) {
        return (String) params.get(name);
    }

    /**
     * Times {@code iterations} calls of {@code one}. One pair of clock readings lies around them all, the wall clock
     * outermost, so that CPU time never exceeds wall time times cores.
     */
    public Timing time(Iteration one) throws Exception {
        Phases share = new Phases(phases);
        long wall = Clock.wallNs();
        long cpu = Clock.cpuNs();
        long answer = 0;
        for (long done = 0; done != iterations; done++) {
            share.begin();
            answer += one.apply(share);
            share.end();
        }
        long cpuEnd = Clock.cpuNs();
        long wallEnd = Clock.wallNs();
        Map<String, Object> extra = new TreeMap<>();
        share.report(extra);
        return new Timing(wallEnd - wall, cpuEnd - cpu, answer, extra);
    }
}
