package taskscale.workloads;

/** Classes that are compiled where the JDK is new enough for them. */
final class Newer {
    private Newer() {}

    /** One of the class of that name in this package, or null where this JDK has none. */
    static <T> T find(Class<T> kind, String name) {
        try {
            return kind.cast(Class.forName("taskscale.workloads." + name).getConstructor().newInstance());
        } catch (ReflectiveOperationException | LinkageError | RuntimeException absent) {
            return null;
        }
    }
}
