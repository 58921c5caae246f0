package taskscale.bench;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Collection;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/** CPU time of the process, user and system, all threads, per operation: JMH by itself tells wall time only. */
public final class CpuProfiler implements InternalProfiler {
    private static final int CLOCK_PROCESS_CPUTIME_ID = 2; // <time.h> of Linux
    private static final MethodHandle CLOCK_GETTIME = Linker.nativeLinker().downcallHandle(
            Linker.nativeLinker().defaultLookup().find("clock_gettime").orElseThrow(),
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS));

    private long begun;

    @Override
    public String getDescription() {
        return "CPU time of the process per operation";
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        begun = cpuNs();
    }

    @Override
    public Collection<? extends Result<?>> afterIteration(
            BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
        double used = (double) (cpuNs() - begun) / result.getMetadata().getAllOps();
        return List.of(new ScalarResult("cpu", used, "ns/op", AggregationPolicy.AVG));
    }

    private static long cpuNs() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment time = arena.allocate(ValueLayout.JAVA_LONG, 2);
            int status = (int) CLOCK_GETTIME.invokeExact(CLOCK_PROCESS_CPUTIME_ID, time);
            if (status != 0) {
                throw new IllegalStateException("clock_gettime failed");
            }
            return time.getAtIndex(ValueLayout.JAVA_LONG, 0) * 1_000_000_000
                    + time.getAtIndex(ValueLayout.JAVA_LONG, 1);
        } catch (RuntimeException failed) {
            throw failed;
        } catch (Throwable thrown) {
            throw new AssertionError("a call of C throws nothing", thrown);
        }
    }
}
