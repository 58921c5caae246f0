package taskscale.workloads.interp;

/** An error of the program. The other values are {@code Long}, {@code String}, {@code Boolean}, {@code Object[]} for a list, and {@link Closure}. */
record Failure(String text) {
    /** The first error among these values, or null. */
    static Object among(Object[] values) {
        for (Object value : values) {
            if (value instanceof Failure) {
                return value;
            }
        }
        return null;
    }

    /** The list of these values, or the first error among them. */
    static Object orList(Object[] values) {
        Object failed = among(values);
        return failed != null ? failed : values;
    }
}
