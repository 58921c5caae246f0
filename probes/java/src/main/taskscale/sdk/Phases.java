package taskscale.sdk;

import java.util.Map;

/** The share of creation, summed over iterations. Reads no clock unless the request has {@code phases}. */
public final class Phases {
    private final boolean on;
    // The sums; and what the clocks read, less the sums, when the iteration began.
    private long wall, cpu, wallBefore, cpuBefore;

    Phases(boolean on) { this.on = on; }

    /**
     * Says that the last task has just been started. Called more than once in an iteration (a windowed workload starts
     * tasks until near its end), the last call counts.
     */
    public void created() {
        if (on) { wall = Clock.wallNs() - wallBefore; cpu = Clock.cpuNs() - cpuBefore; }
    }

    void begin() {
        if (on) { wallBefore = Clock.wallNs() - wall; cpuBefore = Clock.cpuNs() - cpu; }
    }

    Map<String, Object> extra() { return wall == 0 ? Json.object() : Json.object("create_wall_ns", wall, "create_cpu_ns", cpu); }
}
