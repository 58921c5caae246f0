package taskscale.workloads.bytes;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import taskscale.workloads.Pass;
import taskscale.workloads.Source;

/** A file in the memory of the process, as a segment, which its arena unmaps. */
public final class Segment implements Pass {
    private final boolean fnv;

    public Segment(boolean fnv) {
        this.fnv = fnv;
    }

    @Override
    public long once(Source from, int chunk) throws Exception {
        try (FileChannel file = FileChannel.open(from.path(), StandardOpenOption.READ); Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = file.map(FileChannel.MapMode.READ_ONLY, 0, file.size(), arena);
            return fnv ? fnv(bytes) : sum8(bytes);
        }
    }

    private static long sum8(MemorySegment bytes) {
        int sum = 0;
        for (long i = 0; i < bytes.byteSize(); i++) {
            sum += Look.seen(bytes.get(ValueLayout.JAVA_BYTE, i));
        }
        return sum;
    }

    private static long fnv(MemorySegment bytes) {
        long sum = Look.FNV_START;
        for (long i = 0; i < bytes.byteSize(); i++) {
            sum = Look.fnv(sum, bytes.get(ValueLayout.JAVA_BYTE, i));
        }
        return sum;
    }
}
