package taskscale.workloads.interp;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.Executor;
import taskscale.workloads.Evaluator;
import taskscale.workloads.Interp;

/** What the evaluators of all encodings share. */
abstract class Machine implements Evaluator {
    /** Whether this copy of the encodings counts. A constant to the compiler, which leaves out what is not done. */
    static final boolean COUNTS = Interp.counts(Machine.class);

    final Count count = new Count();
    final Node program;
    /** An element that this divides suspends; none where it is 0. */
    private final long every;

    Machine(boolean linked, long depth, long every) {
        this(Program.of(linked, depth), every);
    }

    Machine(Node program, long every) {
        this.program = program;
        this.every = every;
    }

    /** The function of a call, or the call's value where that is an error. */
    final Object callee(Node.Callee callee, Object[] arguments) {
        Object failed = Failure.among(arguments);
        if (failed != null) {
            return failed;
        }
        if (COUNTS) {
            count.called();
        }
        Builtin function = callee.linked() != null ? callee.linked() : Builtin.ALL.get(callee.name());
        return function != null ? function : new Failure("no function " + callee.name());
    }

    /** The environment with one more name. */
    final Env bind(Env env, String name, Object value) {
        if (COUNTS) {
            count.extended();
        }
        return new Env(name, value, env);
    }

    /** The branch that a condition chooses, or the value of the {@code if} where that is an error. */
    static Object branch(Node.If choice, Object condition) {
        if (condition instanceof Boolean is) {
            return is ? choice.then() : choice.otherwise();
        }
        return condition instanceof Failure ? condition : new Failure("a condition must be a boolean");
    }

    /** What is wrong with the arguments of {@code List::map}, or null. */
    static Failure mismatch(Object[] arguments) {
        return arguments.length == 2 && arguments[0] instanceof Object[] && arguments[1] instanceof Closure closure
                        && closure.written().params().length == 1
                ? null
                : new Failure("List::map needs a list and a lambda of one parameter");
    }

    /** Begins the application to {@code element}. Returns whether it suspends. */
    final boolean begins(Object element) {
        if (COUNTS) {
            count.begins(element);
        }
        return every != 0 && element instanceof Long integer && integer % every == 0;
    }

    /** The environment of an application to {@code element}. */
    final Env application(Closure closure, Object element) {
        return bind(closure.env(), closure.written().params()[0], element);
    }

    @Override
    public void on(Executor executor) {}

    @Override
    public void answered(byte[] output) {
        if (COUNTS) {
            count.answered(output);
        }
    }

    @Override
    public void report(Map<String, Object> extra) {
        if (COUNTS) {
            count.report(extra);
        }
    }

    @Override
    public byte[] written(Object value) {
        StringBuilder text = new StringBuilder(1024);
        write(value, text);
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static void write(Object value, StringBuilder text) {
        if (value instanceof Object[] list) {
            char before = '[';
            for (Object one : list) {
                write(one, text.append(before));
                before = ',';
            }
            text.append(before == '[' ? "[]" : "]");
        } else if (value instanceof String string) {
            text.append('"');
            for (int at = 0; at < string.length(); at++) {
                char next = string.charAt(at);
                if (next < ' ') {
                    text.append(String.format("\\u%04x", (int) next));
                } else {
                    (next == '"' || next == '\\' ? text.append('\\') : text).append(next);
                }
            }
            text.append('"');
        } else if (value instanceof Long || value instanceof Boolean) {
            text.append(value);
        } else {
            String what = value instanceof Failure failed ? failed.text() : "a lambda";
            throw new IllegalStateException("a request's output is no value: " + what);
        }
    }
}
