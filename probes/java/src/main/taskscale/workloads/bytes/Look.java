package taskscale.workloads.bytes;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.stream.IntStream;
import taskscale.workloads.Bytes;

/**
 * The loops over bytes. Each takes the sum so far and gives the sum with these bytes. They are written out for both sums, so
 * that each has a profile of its own.
 */
public final class Look {
    /** Whether this copy counts. A constant to the compiler, which leaves out what is not done. */
    private static final boolean COUNTS = Bytes.counts(Look.class);
    static final long FNV_START = 0xcbf29ce484222325L;
    private static final long FNV_PRIME = 0x100000001b3L;
    private static long counted;

    /** Looks at an array, or a part of it. */
    interface OnArray { long look(long sum, byte[] bytes, int length); }

    interface OnBuffer { long look(long sum, ByteBuffer bytes); }

    interface OnStream { long look(long sum, InputStream bytes) throws IOException; }

    private Look() {}

    /** The bytes that were looked at since this was last asked. */
    public static long taken() {
        long taken = counted;
        counted = 0;
        return taken;
    }

    /** A byte that is looked at. */
    static int seen(int one) {
        if (COUNTS) {
            counted++;
        }
        return one & 0xff;
    }

    static long fnv(long sum, int one) {
        return (sum ^ seen(one)) * FNV_PRIME;
    }

    static long sum8For(long before, byte[] bytes, int length) {
        int sum = 0;
        for (int i = 0; i < length; i++) {
            sum += seen(bytes[i]);
        }
        return before + sum;
    }

    static long fnvFor(long sum, byte[] bytes, int length) {
        for (int i = 0; i < length; i++) {
            sum = fnv(sum, bytes[i]);
        }
        return sum;
    }

    static long sum8IntStream(long before, byte[] bytes, int length) {
        return before + IntStream.range(0, length).map(i -> seen(bytes[i])).sum();
    }

    /** In the order of the array, since the stream is sequential. */
    static long fnvIntStream(long before, byte[] bytes, int length) {
        return IntStream.range(0, length).mapToLong(i -> bytes[i]).reduce(before, (sum, one) -> fnv(sum, (int) one));
    }

    static long noneFor(long before, byte[] bytes, int length) {
        if (COUNTS) {
            counted += length;
        }
        return before + length;
    }

    static long sum8Get(long before, ByteBuffer bytes) {
        int sum = 0;
        while (bytes.hasRemaining()) {
            sum += seen(bytes.get());
        }
        return before + sum;
    }

    static long fnvGet(long sum, ByteBuffer bytes) {
        while (bytes.hasRemaining()) {
            sum = fnv(sum, bytes.get());
        }
        return sum;
    }

    static long sum8Read(long before, InputStream bytes) throws IOException {
        int sum = 0;
        for (int one; (one = bytes.read()) >= 0; ) {
            sum += seen(one);
        }
        return before + sum;
    }

    static long fnvRead(long sum, InputStream bytes) throws IOException {
        for (int one; (one = bytes.read()) >= 0; ) {
            sum = fnv(sum, one);
        }
        return sum;
    }
}
