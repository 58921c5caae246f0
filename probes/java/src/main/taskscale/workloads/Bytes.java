package taskscale.workloads;

import taskscale.sdk.Probe;
import taskscale.sdk.Run;
import taskscale.sdk.Timing;
import taskscale.sdk.Variant;

/** {@code bytes}: a file or a response of {@code size} bytes, read from its start to its end and summed up. */
public final class Bytes {
    /** Where the loops are, which an instrumented run loads again, to count. */
    static final String WAYS = "taskscale.workloads.bytes.";
    private static final int MIB = 1 << 20;
    /** A byte that is a call of the system takes some 0.8 us: seven seconds a pass. */
    private static final int MOST = 8 * MIB;
    private static final long CHUNK = 65_536;

    /** A copy of the ways. */
    static final class Copy extends Copies {
        final boolean counts;

        Copy(boolean counts) {
            super(WAYS);
            this.counts = counts;
        }

        Pass pass(String way, String mode) throws ReflectiveOperationException {
            return (Pass) loadClass(WAYS + "Ways").getMethod("pass", String.class, String.class).invoke(null, way, mode);
        }

        /** The bytes that were looked at since this was last asked. */
        long taken() throws ReflectiveOperationException {
            return (Long) loadClass(WAYS + "Look").getMethod("taken").invoke(null);
        }
    }

    static final Copy TIMED = new Copy(false);
    static final Copy COUNTED = new Copy(true);

    private Bytes() {}

    /** Whether a class of a way is of the copy that counts. */
    public static boolean counts(Class<?> loaded) {
        return ((Copy) loaded.getClassLoader()).counts;
    }

    /** Answer of an iteration: the sum. */
    public static void declare() {
        Probe.param("bytes", "source", "file",
                "the file in the folder TASKSCALE_BYTES, or the response of the server TASKSCALE_BYTES_URL", "file", "http");
        Probe.param("bytes", "mode", "sum8",
                "sum8: the sum of all bytes modulo 256; fnv: FNV-1a of 64 bits; none: bytes are fetched and not looked at",
                "sum8", "fnv", "none");
        Probe.param("bytes", "chunk", CHUNK, "bytes of the buffer, of variants that read into one");
        String response = "; http: HttpClient's ofInputStream", unmapped = "; Java unmaps it when it is collected";
        whole("readAllBytes/for", "Files.readAllBytes").only("source", "file");
        whole("readAllBytes/IntStream", "Files.readAllBytes; IntStream.range and sum, fnv: LongStream.reduce")
                .only("source", "file");
        chunks("InputStream/for", "file: FileInputStream" + response).only("source", "file", "http");
        chunks("InputStream/none", "the floor: what InputStream/for has before it looks" + response)
                .only("source", "file", "http").only("mode", "none");
        chunks("FileChannel.heap/get", "a ByteBuffer on the heap").only("source", "file");
        chunks("FileChannel.direct/get", "a direct ByteBuffer").only("source", "file");
        whole("FileChannel.map/get", "a MappedByteBuffer" + unmapped).only("source", "file");
        Variant segment = whole("FileChannel.map/MemorySegment", "a segment of a confined Arena, which unmaps it")
                .only("source", "file");
        if (!has("Segment")) {
            segment.unavailable("needs JDK 22 or later, this is " + Runtime.version(),
                    "name a newer JDK: --runtime java@/path/to/jdk");
        }
        whole("FileInputStream/read", "a call of the system for each byte: up to " + MOST / MIB + " MiB")
                .only("source", "file").maxSize(MOST);
        whole("BufferedInputStream/read", "with its buffer of 8 KiB" + response).only("source", "file", "http");
        chunks("AsynchronousFileChannel/get", "a direct ByteBuffer; a Future for each chunk").only("source", "file");
        whole("HttpClient.ofByteArray/for", "all bytes in one array").only("source", "http");
        whole("HttpClient.ofByteArrayConsumer/for", "arrays as they come, looked at on the client's thread").only("source", "http");
    }

    /** Declares a way that has a buffer of the request's size. */
    private static Variant chunks(String name, String note) {
        return Probe.variant("bytes", name, run -> perform(run, name)).createsTask(false).only("mode", "sum8", "fnv").note(note);
    }

    /** Declares a way that has none. */
    private static Variant whole(String name, String note) {
        return chunks(name, note).only("chunk", CHUNK);
    }

    /** Whether a way was compiled here, and can be loaded. */
    static boolean has(String way) {
        try {
            return TIMED.loadClass(WAYS + way) != null;
        } catch (ClassNotFoundException | LinkageError absent) {
            return false;
        }
    }

    /** Does all iterations inside the timed part. An instrumented run has loops that count. */
    static Timing perform(Run run, String way) throws Exception {
        String mode = run.word("mode");
        int chunk = Math.toIntExact(run.integer("chunk"));
        long mask = mode.equals("sum8") ? 0xff : -1;
        Source from = Source.asked(run.word("source"), run.size);
        Pass pass = (run.verify ? COUNTED : TIMED).pass(way, mode);
        COUNTED.taken(); // of a request that failed
        return judged(run, run.time(phases -> pass.once(from, chunk) & mask));
    }

    /** Adds what was counted to {@code extra}, unless bytes are missing or too many. */
    static Timing judged(Run run, Timing timing) throws ReflectiveOperationException {
        if (run.verify) {
            long counted = COUNTED.taken(), expected = run.size * run.iterations;
            if (counted != expected) {
                throw new IllegalStateException(counted + " bytes were consumed, " + expected + " were asked for");
            }
            timing.extra().put("executed", counted);
        }
        return timing;
    }
}
