package taskscale.workloads;

import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;
import java.util.stream.Stream;
import taskscale.sdk.Probe;
import taskscale.sdk.Run;
import taskscale.sdk.Timing;
import taskscale.sdk.Variant;

/**
 * {@code context}: {@code size} awaits, behind each of which a thread reads one of the {@code variables} that it has
 * given values. Two threads share the awaits, each with values of its own, so a value of another thread is wrong. Without
 * variables nothing is read.
 */
public final class Context {
    private static final int MOST = 8;

    private Context() {}

    /** What a thread has values in. */
    public interface Variables {
        /** Gives the first {@code count} variables values from {@code first} on, and then calls {@code body}. */
        long within(long first, int count, Callable<Long> body) throws Exception;

        /** The value of a variable, null where it has none. */
        Long read(int variable);
    }

    /** A thread's share of the awaits: how often the value was right. */
    interface Form {
        long right(Threads kind, Variables variables, int awaits, long first, int count) throws InterruptedException;
    }

    /** Answer of an iteration: the number of awaits behind which the value was right. */
    public static void declare() {
        Probe.param("context", "variables", 1L, "variables that have a value: 0, 1 or 8");
        Variables locals = new Locals(ThreadLocal::new), inherited = new Locals(InheritableThreadLocal::new);
        Variables scoped = Newer.find(Variables.class, "ScopedValues");
        Threads virtual = Virtual.THREADS, platform = Threads.PLATFORM;
        String yields = "Thread.yield()", inherits = "a thread for each await, which inherits a copy";
        Virtual.needed(declare("virtual/ThreadLocal", virtual, locals, Context::suspending).createsTask(false).note(yields));
        Variant variant = declare("virtual/ScopedValue", virtual, scoped, Context::suspending).createsTask(false).note(yields);
        if (scoped == null) {
            variant.unavailable("needs JDK 25, this is " + Runtime.version(), "name a newer JDK: --runtime java@/path/to/jdk");
        }
        Virtual.needed(declare("virtual/InheritableThreadLocal/start", virtual, inherited, Context::asking).note(inherits));
        // No yields: on a busy machine each gives a thread of the system's whole time slice away.
        declare("platform/InheritableThreadLocal/start", platform, inherited, Context::asking).note(inherits);
    }

    private static Variant declare(String name, Threads kind, Variables variables, Form form) {
        return Probe.variant("context", name, run -> perform(run, kind, variables, form));
    }

    private static Timing perform(Run run, Threads kind, Variables variables, Form form) throws Exception {
        int count = Math.toIntExact(run.integer("variables"));
        if (count != 0 && count != 1 && count != MOST) {
            throw new IllegalArgumentException("variables is " + count + "; give 0, 1 or " + MOST);
        }
        return run.time(phases -> {
            var other = started(kind, variables, form, run.size / 2, 1000, count);
            return started(kind, variables, form, run.size - run.size / 2, 2000, count).get() + other.get();
        });
    }

    private static FutureTask<Long> started(
            Threads kind, Variables variables, Form form, int awaits, long first, int count) {
        var task = new FutureTask<>(() -> variables.within(first, count, () -> form.right(kind, variables, awaits, first, count)));
        kind.start(task);
        return task;
    }

    /** Gives its processor to others, and then reads. */
    private static long suspending(Threads kind, Variables variables, int awaits, long first, int count) {
        long right = 0;
        for (int i = 0, at = 0; i < awaits; i++) {
            Thread.yield();
            if (count == 0 || is(variables.read(at), first + at)) {
                right++;
            }
            at = at + 1 < count ? at + 1 : 0;
        }
        return right;
    }

    /** Starts a thread that reads, and joins it. */
    private static long asking(Threads kind, Variables variables, int awaits, long first, int count)
            throws InterruptedException {
        var was = new Object() {
            long right; // join() orders what the threads write
        };
        for (int i = 0, at = 0; i < awaits; i++) {
            int variable = at;
            kind.start(() -> {
                if (count == 0 || is(variables.read(variable), first + variable)) {
                    was.right++;
                }
            }).join();
            at = at + 1 < count ? at + 1 : 0;
        }
        return was.right;
    }

    private static boolean is(Long got, long right) {
        return got != null && got == right;
    }

    /** Variables of a thread, or of a thread and those that it starts. */
    private record Locals(ThreadLocal<Long>[] all) implements Variables {
        Locals(Supplier<ThreadLocal<Long>> made) {
            this(Stream.generate(made).limit(MOST).toArray(Locals::array));
        }

        @SuppressWarnings({"unchecked", "rawtypes"})
        private static ThreadLocal<Long>[] array(int size) {
            return new ThreadLocal[size];
        }

        @Override
        public long within(long first, int count, Callable<Long> body) throws Exception {
            for (int at = 0; at < count; at++) {
                all[at].set(first + at);
            }
            return body.call();
        }

        @Override
        public Long read(int variable) {
            return all[variable].get();
        }
    }
}
