package taskscale.sdk;

/** A request that cannot be done. Its text says what failed, on what, and what to do. */
public final class Refused extends RuntimeException {
    private static final long serialVersionUID = 1;

    public Refused(String message) {
        super(message);
    }
}
