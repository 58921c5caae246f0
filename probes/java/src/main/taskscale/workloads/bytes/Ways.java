package taskscale.workloads.bytes;

import static java.nio.file.StandardOpenOption.READ;

import java.io.BufferedInputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.util.concurrent.ExecutionException;
import taskscale.workloads.Pass;
import taskscale.workloads.Source;

/** How bytes come. A way opens the source, hands what comes to a loop of {@link Look}, and closes the source. */
public final class Ways {
    private Ways() {}

    /** The way of that name, for a mode. */
    public static Pass pass(String way, String mode) throws ReflectiveOperationException {
        boolean fnv = mode.equals("fnv");
        long start = fnv ? Look.FNV_START : 0;
        Look.OnArray array = fnv ? Look::fnvFor : Look::sum8For, stream = fnv ? Look::fnvIntStream : Look::sum8IntStream;
        Look.OnBuffer buffer = fnv ? Look::fnvGet : Look::sum8Get;
        Look.OnStream read = fnv ? Look::fnvRead : Look::sum8Read;
        return switch (way) {
            case "readAllBytes/for" -> (from, chunk) -> whole(Files.readAllBytes(from.path()), start, array);
            case "readAllBytes/IntStream" -> (from, chunk) -> whole(Files.readAllBytes(from.path()), start, stream);
            case "InputStream/for" -> (from, chunk) -> chunks(from, chunk, start, array);
            case "InputStream/none" -> (from, chunk) -> chunks(from, chunk, start, Look::noneFor);
            case "FileChannel.heap/get" -> (from, chunk) -> channel(from, ByteBuffer.allocate(chunk), start, buffer);
            case "FileChannel.direct/get" -> (from, chunk) -> channel(from, ByteBuffer.allocateDirect(chunk), start, buffer);
            case "FileChannel.map/get" -> (from, chunk) -> mapped(from, start, buffer);
            // Compiled where the JDK has it.
            case "FileChannel.map/MemorySegment" -> (Pass) Class.forName(Ways.class.getPackageName() + ".Segment")
                    .getDeclaredConstructor(boolean.class).newInstance(fnv);
            case "FileInputStream/read" -> (from, chunk) -> {
                try (InputStream file = new FileInputStream(from.path().toFile())) {
                    return read.look(start, file);
                }
            };
            case "BufferedInputStream/read" -> (from, chunk) -> {
                try (InputStream bytes = new BufferedInputStream(from.open())) {
                    return read.look(start, bytes);
                }
            };
            case "AsynchronousFileChannel/get" -> (from, chunk) -> asynchronous(from, chunk, start, buffer);
            case "HttpClient.ofByteArray/for" -> (from, chunk) -> whole(from.send(BodyHandlers.ofByteArray()), start, array);
            case "HttpClient.ofByteArrayConsumer/for" -> (from, chunk) -> consumed(from, start, array);
            default -> throw new IllegalArgumentException("no way " + way);
        };
    }

    private static long whole(byte[] bytes, long sum, Look.OnArray look) {
        return look.look(sum, bytes, bytes.length);
    }

    private static long chunks(Source from, int chunk, long sum, Look.OnArray look) throws IOException, InterruptedException {
        byte[] bytes = new byte[chunk];
        try (InputStream in = from.open()) {
            for (int read; (read = in.read(bytes)) >= 0; ) {
                sum = look.look(sum, bytes, read);
            }
        }
        return sum;
    }

    private static long channel(Source from, ByteBuffer bytes, long sum, Look.OnBuffer look) throws IOException {
        try (FileChannel file = FileChannel.open(from.path(), READ)) {
            while (file.read(bytes) >= 0) {
                sum = look.look(sum, bytes.flip());
                bytes.clear();
            }
        }
        return sum;
    }

    private static long mapped(Source from, long sum, Look.OnBuffer look) throws IOException {
        try (FileChannel file = FileChannel.open(from.path(), READ)) {
            return look.look(sum, file.map(FileChannel.MapMode.READ_ONLY, 0, file.size()));
        }
    }

    private static long asynchronous(Source from, int chunk, long sum, Look.OnBuffer look)
            throws IOException, InterruptedException, ExecutionException {
        try (AsynchronousFileChannel file = AsynchronousFileChannel.open(from.path(), READ)) {
            return asynchronous(file, ByteBuffer.allocateDirect(chunk), sum, look);
        }
    }

    static long asynchronous(AsynchronousFileChannel file, ByteBuffer bytes, long sum, Look.OnBuffer look)
            throws InterruptedException, ExecutionException {
        long at = 0;
        for (int read; (read = file.read(bytes, at).get()) >= 0; at += read) {
            sum = look.look(sum, bytes.flip());
            bytes.clear();
        }
        return sum;
    }

    /** The client hands arrays over one after the other. */
    private static long consumed(Source from, long start, Look.OnArray look) throws IOException, InterruptedException {
        long[] sum = {start};
        from.send(BodyHandlers.ofByteArrayConsumer(
                part -> part.ifPresent(bytes -> sum[0] = look.look(sum[0], bytes, bytes.length))));
        return sum[0];
    }
}
