package taskscale.workloads.interp;

/** A lambda with the environment in which it was written. */
record Closure(Env env, Node.Lambda written) {}
