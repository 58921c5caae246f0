package taskscale.workloads.interp;

import java.nio.charset.StandardCharsets;
import java.util.Map;

/** What an instrumented run counts. */
final class Count {
    private long nodes, builtins, applications, extensions, live, deepest, suspended, made, taken;
    private long order, output;
    private final StringBuilder log = new StringBuilder();

    synchronized void entered() {
        nodes++;
        deepest = Math.max(deepest, ++live);
    }

    synchronized void left() { live--; }

    synchronized void called() { builtins++; }

    synchronized void extended() { extensions++; }

    synchronized void begins(Object element) {
        applications++;
        log.append("B ").append(element).append('\n');
    }

    synchronized void hasValue(Object element) { log.append("E ").append(element).append('\n'); }

    synchronized void suspended() { suspended++; }

    /** A result is there, to be used once. */
    synchronized void made() { made++; }

    /** A result was used. */
    synchronized void taken() { taken++; }

    synchronized void answered(byte[] written) {
        output = fnv1a(written);
        order = fnv1a(log.toString().getBytes(StandardCharsets.UTF_8));
        log.setLength(0);
    }

    /** Adds these counts to those of other workers. The last request is one of the last worker that had any. */
    synchronized void report(Map<String, Object> extra) {
        // Results that were never used, or used more than once.
        Object[] sums = {"nodes", nodes, "builtins", builtins, "applications", applications, "extensions", extensions,
            "suspended", suspended, "consumed_twice", Math.abs(made - taken)};
        for (int at = 0; at < sums.length; at += 2) {
            extra.merge((String) sums[at], sums[at + 1], (one, other) -> (Long) one + (Long) other);
        }
        extra.merge("deepest", deepest, (one, other) -> Math.max((Long) one, (Long) other));
        if (nodes > 0) {
            // Digits, as numbers of JSON may be less exact.
            extra.put("order", Long.toUnsignedString(order));
            extra.put("output", Long.toUnsignedString(output));
        }
    }

    static long fnv1a(byte[] bytes) {
        long hash = 0xcbf29ce484222325L;
        for (byte one : bytes) {
            hash = (hash ^ (one & 0xff)) * 0x100000001b3L;
        }
        return hash;
    }
}
