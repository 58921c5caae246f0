package taskscale.sdk;

import com.sun.management.ThreadMXBean;
import java.lang.management.*;
import java.util.*;

/** What the runtime itself counts, and what reads it. */
final class Counters {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final List<GarbageCollectorMXBean> COLLECTORS = ManagementFactory.getGarbageCollectorMXBeans();

    static Map<String, Object> all() {
        return Json.object(
                "allocations", Json.object("reason", "the JVM counts bytes and no objects", "remedy",
                        "ask for bytes: --metrics bytes"),
                "bytes", total() < 0 ? Json.object("reason", "this JVM does not add up the bytes of all threads", "remedy",
                        "use Java 21 or later") : "ThreadMXBean.getTotalThreadAllocatedBytes",
                "collections", "GarbageCollectorMXBean.getCollectionCount",
                "pause_ns", "GarbageCollectorMXBean.getCollectionTime, in ms");
    }

    /** Those that a request asks for. */
    static Map<String, Object> read(Object asked) {
        if (asked == null) return Map.of();
        if (asked.equals("memory")) return total() < 0 ? Json.object() : Json.object("bytes", total());
        return Json.object(
                "collections", COLLECTORS.stream().mapToLong(GarbageCollectorMXBean::getCollectionCount).sum(),
                "pause_ns", COLLECTORS.stream().mapToLong(GarbageCollectorMXBean::getCollectionTime).sum() * 1_000_000);
    }

    /** By how much each rose. */
    static Map<String, Object> rise(Map<String, Object> before, Map<String, Object> after) {
        after.replaceAll((name, value) -> (Long) value - (Long) before.get(name));
        return after;
    }

    /** The bytes of all threads, those that ended among them; below 0 before Java 21. */
    private static long total() {
        try {
            return (Long) ThreadMXBean.class.getMethod("getTotalThreadAllocatedBytes").invoke(THREADS);
        } catch (ReflectiveOperationException absent) {
            return -1;
        }
    }
}
