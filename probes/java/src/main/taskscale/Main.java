package taskscale;

import taskscale.sdk.Probe;
import taskscale.workloads.Blocking;
import taskscale.workloads.Bytes;
import taskscale.workloads.Cancel;
import taskscale.workloads.Collector;
import taskscale.workloads.Context;
import taskscale.workloads.Fanout;
import taskscale.workloads.Idle;
import taskscale.workloads.Interp;
import taskscale.workloads.Nop;
import taskscale.workloads.Parked;
import taskscale.workloads.Pingpong;
import taskscale.workloads.Remote;
import taskscale.workloads.Scale;
import taskscale.workloads.Spin;

/**
 * {@code java -cp CLASSES taskscale.Main java}: serves the probe of the runtime {@code java}. {@code
 * java+large-young} is started with further flags (README.md).
 */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        String runtime = String.join(" ", args);
        if (!runtime.equals("java") && !runtime.equals(Collector.UNCOLLECTED)) {
            System.err.println("no runtime " + runtime + " in this probe; choose java or "
                    + Collector.UNCOLLECTED);
            System.exit(2);
        }
        // Without the collector it is nop alone.
        Nop.declare(runtime);
        if (runtime.equals("java")) {
            Fanout.declare();
            Spin.declare();
            Interp.declare();
            Parked.declare();
            Blocking.declare();
            Cancel.declare();
            Pingpong.declare();
            Remote.declare();
            Context.declare();
            Idle.declare();
            Scale.declare();
            Bytes.declare();
        }
        Probe.serve(runtime, Runtime.version().toString(), Runtime.getRuntime().availableProcessors());
    }
}
