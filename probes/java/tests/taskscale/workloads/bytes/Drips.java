package taskscale.workloads.bytes;

import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.CompletionHandler;
import java.nio.channels.FileLock;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

/** A channel that gives 5,000 bytes at most, which that of a file on a disk never does in its midst. */
public final class Drips extends AsynchronousFileChannel {
    private final byte[] data;

    private Drips(byte[] data) {
        this.data = data;
    }

    public static long sum(byte[] data, boolean fnv) throws Exception {
        return Ways.asynchronous(new Drips(data), ByteBuffer.allocate(65_536), fnv ? Look.FNV_START : 0,
                fnv ? Look::fnvGet : Look::sum8Get);
    }

    @Override
    public Future<Integer> read(ByteBuffer into, long at) {
        int length = (int) Math.min(5000, data.length - at);
        into.put(data, (int) at, length);
        return CompletableFuture.completedFuture(length == 0 ? -1 : length);
    }

    @Override
    public <A> void read(ByteBuffer into, long at, A attachment, CompletionHandler<Integer, ? super A> handler) { throw none(); }

    @Override
    public <A> void lock(long at, long size, boolean shared, A attachment, CompletionHandler<FileLock, ? super A> handler) {
        throw none();
    }

    @Override
    public Future<FileLock> lock(long at, long size, boolean shared) { throw none(); }

    @Override
    public FileLock tryLock(long at, long size, boolean shared) { throw none(); }

    @Override
    public <A> void write(ByteBuffer from, long at, A attachment, CompletionHandler<Integer, ? super A> handler) { throw none(); }

    @Override
    public Future<Integer> write(ByteBuffer from, long at) { throw none(); }

    @Override
    public AsynchronousFileChannel truncate(long size) { throw none(); }

    @Override
    public long size() { return data.length; }

    @Override
    public void force(boolean metaData) { throw none(); }

    @Override
    public boolean isOpen() { return true; }

    @Override
    public void close() {}

    private static UnsupportedOperationException none() { return new UnsupportedOperationException("it is only read"); }
}
