package taskscale.workloads;

import taskscale.sdk.Probe;
import taskscale.sdk.Run;
import taskscale.sdk.Timing;

/** {@code fanout}: start {@code size} tasks, collect {@code size} results. */
public final class Fanout {
    private Fanout() {}

    /**
     * Answer of an iteration: the sum of the tasks' results; in the order {@code discard}, where a timed run has no
     * results, the number of tasks started.
     */
    public static void declare() {
        String[] orders = {"ordered", "completion", "discard"};
        Probe.param("fanout", "order", "ordered", "how results are collected", orders);
        Probe.param("fanout", "work", 0, "steps of spin per task; 0: the task gives 31 * i");
        Probe.param("fanout", "window", 0, "most tasks alive at once; 0: all");
        Probe.param("fanout", "extra_spin", 0, "steps of spin once per iteration: a slow-down to be found");
        for (Way way : Way.ALL) {
            way.declare("fanout", run -> perform(run, way.form())).only("order", (Object[]) way.orders());
        }
    }

    /** The kind of task is chosen here, once, so that the loop over tasks has no branch on it. */
    private static Timing perform(Run run, String form) throws Exception {
        Kind kind = Kind.PLAIN;
        if (run.integer("work") != 0) {
            kind = Kind.SPUN;
            ((Body.Spun) kind.body).seed = run.seed;
            ((Body.Spun) kind.body).work = run.integer("work");
        }
        if (!run.verify) {
            return time(run, kind.form(form), kind.body);
        }
        Body.Counted counted = (Body.Counted) Kind.COUNTED.body;
        counted.body = kind.body;
        counted.count = new Count();
        return counted.count.report(run, time(run, Kind.COUNTED.form(form), counted));
    }

    private static Timing time(Run run, Form form, Body body) throws Exception {
        int size = run.size;
        boolean all = Long.compareUnsigned(run.integer("window") - 1, size - 1) >= 0; // 0 is all, as is size
        int window = all ? size : (int) run.integer("window");
        long extraSpin = run.integer("extra_spin");
        Run.Iteration one = switch (run.word("order")) {
            case "ordered" -> phases -> {
                long[] results = new long[size];
                if (all) {
                    form.ordered(0, size, results, phases);
                } else {
                    form.orderedWindowed(size, window, results, phases);
                }
                return body.answer(results);
            };
            case "completion" -> phases -> form.completion(size, window, phases);
            default -> phases -> {
                if (all) {
                    form.discard(0, size, phases);
                } else {
                    form.discardWindowed(size, window, phases);
                }
                return body.discarded(size);
            };
        };
        if (extraSpin == 0) {
            return run.time(one);
        }
        return run.time(phases -> {
            long answer = one.apply(phases);
            Kernel.discard(Kernel.spin(run.seed, extraSpin));
            return answer;
        });
    }
}
