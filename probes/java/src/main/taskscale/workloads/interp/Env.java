package taskscale.workloads.interp;

/** A persistent linked list of names and values. The empty one is null. */
record Env(String name, Object value, Env rest) {
    /** The value that was bound last under {@code name}. */
    static Object find(Env env, String name) {
        for (; env != null; env = env.rest) {
            if (env.name.equals(name)) {
                return env.value;
            }
        }
        return new Failure("no variable " + name);
    }
}
