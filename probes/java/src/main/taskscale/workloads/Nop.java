package taskscale.workloads;

import taskscale.sdk.Probe;
import taskscale.sdk.Run;
import taskscale.sdk.Timing;

/** {@code nop}: {@code size} tasks that do nothing, started and awaited: the forms of fanout, without results. */
public final class Nop {
    private Nop() {}

    /** Answer of an iteration: the number of tasks done. */
    public static void declare(String runtime) {
        Probe.param("nop", "live", 0, "tasks alive at once, in batches; 0: all");
        for (Way way : Way.ALL) {
            way.declare("nop", runtime.equals(Collector.UNCOLLECTED)
                    ? run -> Collector.uncollected(run, () -> perform(run, way.form()))
                    : run -> perform(run, way.form()));
        }
    }

    private static Timing perform(Run run, String form) throws Exception {
        if (!run.verify) {
            return time(run, Kind.NOTHING.form(form), Kind.NOTHING.body);
        }
        Body.Counted counted = (Body.Counted) Kind.COUNTED.body;
        counted.body = Kind.NOTHING.body;
        counted.count = new Count();
        return counted.count.report(run, time(run, Kind.COUNTED.form(form), counted));
    }

    private static Timing time(Run run, Form form, Body body) throws Exception {
        int size = run.size;
        // 0 is all, as is more than size.
        int live = Long.compareUnsigned(run.integer("live") - 1, size - 1) >= 0 ? size : (int) run.integer("live");
        return run.time(phases -> {
            form.discardBatches(size, live, phases);
            return body.discarded(size);
        });
    }
}
