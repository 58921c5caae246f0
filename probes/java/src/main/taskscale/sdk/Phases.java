package taskscale.sdk;

import java.util.Map;

/** The share of creation, summed over iterations. Reads no clock unless the request has {@code phases}. */
public final class Phases {
    private final boolean on;
    private boolean told;
    private boolean toldOnce;
    private long wallBegun;
    private long cpuBegun;
    private long wallCreated;
    private long cpuCreated;
    private long wallSum;
    private long cpuSum;

    Phases(boolean on) {
        this.on = on;
    }

    /**
     * Says that the last task has just been started. Called more than once in an iteration (a windowed workload starts
     * tasks until near its end), the last call counts.
     */
    public void created() {
        if (on) {
            wallCreated = Clock.wallNs();
            cpuCreated = Clock.cpuNs();
            told = true;
        }
    }

    void begin() {
        if (on) {
            told = false;
            wallBegun = Clock.wallNs();
            cpuBegun = Clock.cpuNs();
        }
    }

    void end() {
        if (told) {
            wallSum += wallCreated - wallBegun;
            cpuSum += cpuCreated - cpuBegun;
            toldOnce = true;
        }
    }

    void report(Map<String, Object> extra) {
        if (toldOnce) {
            extra.put("create_wall_ns", wallSum);
            extra.put("create_cpu_ns", cpuSum);
        }
    }
}
