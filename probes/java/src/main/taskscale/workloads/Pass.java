package taskscale.workloads;

/** A way of reading the bytes of {@code bytes} and summing them up. */
public interface Pass {
    /** Reads all once, and gives the sum, of which the lower bits may be all that counts. */
    long once(Source from, int chunk) throws Exception;
}
