package taskscale.workloads.interp;

/** {@code green}: a virtual thread for each request, which runs {@code sync}. */
public final class Green extends Sync {
    public Green(boolean linked, long depth, long every) { super(linked, depth, every); }

    Green(Node program, long every) { super(program, every); }

    /** In a server each request has a virtual thread to begin with. */
    @Override
    public Object request() throws Exception {
        Object[] there = new Object[1];
        Throwable[] failed = new Throwable[1];
        Thread thread = Thread.startVirtualThread(() -> {
            try {
                there[0] = eval(program, null);
            } catch (Throwable failure) {
                failed[0] = failure;
            }
        });
        thread.join();
        if (failed[0] != null) {
            throw new IllegalStateException(failed[0]);
        }
        return there[0];
    }
}
