package taskscale.workloads.interp;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;

/** Encodings with a mistake, whose output is right all the same. They are loaded with the copy that counts. */
public final class Mistakes {
    private Mistakes() {}

    /** {@code List::map} begins two elements at a time. */
    public static final class TwoAtATime extends Async {
        public TwoAtATime(boolean linked, long depth, long every) { super(linked, depth, every); }

        @Override
        CompletableFuture<Object> map(Object[] arguments) {
            Object[] list = (Object[]) arguments[0], values = new Object[list.length];
            return pairs((Closure) arguments[1], list, values, 0);
        }

        private CompletableFuture<Object> pairs(Closure closure, Object[] list, Object[] values, int i) {
            if (i == list.length) {
                return there(values);
            }
            var first = apply(closure, list[i]);
            var second = apply(closure, list[i + 1]);
            return then(first, one -> then(second, other -> {
                values[i] = one;
                values[i + 1] = other;
                return pairs(closure, list, values, i + 2);
            }));
        }
    }

    /** {@code List::map} drops what is pending, and evaluates the body without it. */
    public static final class Swallowed extends Union {
        public Swallowed(boolean linked, long depth, long every) { super(linked, depth, every); }

        @Override
        Result map(Object[] arguments) {
            Object[] list = (Object[]) arguments[0], values = new Object[list.length];
            Closure closure = (Closure) arguments[1];
            for (int i = 0; i < list.length; i++) {
                Result one = apply(closure, list[i]);
                values[i] = one.pending() == null
                        ? one.value()
                        : eval(closure.written().body(), new Env("i", list[i], closure.env())).value();
            }
            return there(values);
        }
    }

    /** {@code List::map} uses the result of element 30 twice. */
    public static final class UsedTwice extends Async {
        public UsedTwice(boolean linked, long depth, long every) { super(linked, depth, every); }

        @Override
        CompletableFuture<Object> map(Object[] arguments) {
            Object[] list = (Object[]) arguments[0], values = new Object[list.length];
            return elements((Closure) arguments[1], list, values, 0);
        }

        private CompletableFuture<Object> elements(Closure closure, Object[] list, Object[] values, int i) {
            if (i == list.length) {
                return there(values);
            }
            var result = apply(closure, list[i]);
            var used = i == 29 ? then(result, value -> result) : result;
            return then(used, value -> {
                values[i] = value;
                return elements(closure, list, values, i + 1);
            });
        }
    }

    /** One of these classes, or of those of the package. */
    private static Machine evaluator(String encoding, Node program) throws ReflectiveOperationException {
        return (Machine) Class.forName(Mistakes.class.getPackageName() + "." + encoding)
                .getDeclaredConstructor(Node.class, long.class)
                .newInstance(program, 1L);
    }

    /** The output of such a program, or what is said of it. */
    public static String output(String encoding, String text) throws Exception {
        Machine machine = evaluator(encoding, Program.parse(text, false));
        try {
            return new String(machine.written(machine.request()), StandardCharsets.UTF_8);
        } catch (IllegalStateException said) {
            return said.getMessage();
        }
    }

    /** The text of the program. */
    public static String program() { return Program.TEXT; }
}
