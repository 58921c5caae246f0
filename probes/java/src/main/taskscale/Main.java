package taskscale;

import taskscale.sdk.Probe;
import taskscale.workloads.Bytes;
import taskscale.workloads.Fanout;
import taskscale.workloads.Interp;
import taskscale.workloads.Nop;
import taskscale.workloads.Parked;
import taskscale.workloads.Spin;

/** {@code java -cp CLASSES taskscale.Main java}: serves the probe of the runtime {@code java}. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        if (args.length != 1 || !args[0].equals("java")) {
            System.err.println("no runtime " + String.join(" ", args) + " in this probe; choose java");
            System.exit(2);
        }
        Fanout.declare();
        Nop.declare();
        Spin.declare();
        Interp.declare();
        Parked.declare();
        Bytes.declare();
        Probe.serve("java", Runtime.version().toString(), Runtime.getRuntime().availableProcessors());
    }
}
