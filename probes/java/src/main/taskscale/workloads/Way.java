package taskscale.workloads;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import taskscale.sdk.Probe;
import taskscale.sdk.Variant;

/** A variant of fanout and nop: its name, its class in {@code workloads.forms}, and the orders that fanout has. */
record Way(String name, String form, boolean createsTask, String note, String... orders) {
    private static final String SPLIT =
            "halves the range down to one unit: as many forks as units, but half of the units run unforked";
    private static final String ONE_THREAD_EACH = "this JDK starts a platform thread for each task, since the common"
            + " pool has but one worker; the kernel's default limits end near 16,000 alive at once";
    private static final int MAX_THREADS = 10_000;

    static final List<Way> ALL = List.of(
            new Way("virtual/start", "VirtualStart", true, "", "ordered", "discard"),
            new Way("virtual/executor", "VirtualExecutor", true, "", "ordered", "discard"),
            new Way("StructuredTaskScope", "StructuredScope", true, "on virtual threads; a preview of the JDK",
                    "ordered", "discard"),
            new Way("ForkJoinPool", "ForkJoinAll", true, "one RecursiveTask per unit, in one invokeAll",
                    "ordered", "discard"),
            new Way("ForkJoinPool/split", "ForkJoinSplit", false, SPLIT, "ordered", "discard"),
            new Way("CompletableFuture", "SupplyAsync", true, "on the common pool", "ordered", "discard"),
            new Way("fixed_pool/invokeAll", "FixedInvokeAll", true, "as many threads as processors",
                    "ordered", "discard"),
            new Way("ExecutorCompletionService", "FixedCompletion", true, "on a pool of as many threads as processors",
                    "completion", "discard"),
            new Way("virtual/ExecutorCompletionService", "VirtualCompletion", true, "on virtual threads",
                    "completion", "discard"));

    /** Declares it for a workload. */
    Variant declare(String workload, Variant.Perform perform) {
        Variant variant = Probe.variant(workload, name, perform).createsTask(createsTask);
        if (!note.isEmpty()) {
            variant.note(note);
        }
        if (form.equals("SupplyAsync") && !(new CompletableFuture<Void>().defaultExecutor() instanceof ForkJoinPool)) {
            variant.maxSize(MAX_THREADS).note(ONE_THREAD_EACH);
        }
        try {
            Class.forName(Kind.FORMS + form, false, Kind.PLAIN);
        } catch (ClassNotFoundException absent) {
            if (Virtual.THREADS == null && !form.equals("StructuredScope")) {
                return Virtual.needed(variant);
            }
            String reason = Runtime.version().feature() < 25
                    ? "needs JDK 25, this is " + Runtime.version()
                    : "did not compile with the preview of JDK " + Runtime.version() + ", or was left out";
            variant.unavailable(reason, "name JDK 25: --runtime java@/path/to/jdk-25");
        } catch (UnsupportedClassVersionError disabled) {
            variant.unavailable("is a preview, and the probe was started without it", "start it with --enable-preview");
        }
        return variant;
    }
}
