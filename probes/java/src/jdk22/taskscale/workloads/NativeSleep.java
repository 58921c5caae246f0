package taskscale.workloads;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** {@code usleep} of the C library: a virtual thread stays on its carrier, which blocks. */
@SuppressWarnings("restricted")
public final class NativeSleep implements Blocking.Block {
    private static final MethodHandle USLEEP = Linker.nativeLinker().downcallHandle(
            Linker.nativeLinker().defaultLookup().find("usleep").orElseThrow(),
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));

    @Override
    public void block(long us) throws Exception {
        try {
            int status = (int) USLEEP.invokeExact(Math.toIntExact(us));
            if (status != 0) throw new IllegalStateException("usleep(" + us + ") gives " + status);
        } catch (Exception thrown) {
            throw thrown;
        } catch (Throwable thrown) {
            throw new AssertionError("a call of C throws nothing", thrown);
        }
    }
}
