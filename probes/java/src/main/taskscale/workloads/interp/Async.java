package taskscale.workloads.interp;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Function;

/** {@code async}: a future at every node and builtin, and what follows is composed. */
public class Async extends Machine {
    private static final Runnable NOTHING = () -> {};
    private final Loop loop = new Loop();
    private Executor scheduler = loop;

    public Async(boolean linked, long depth, long every) { super(linked, depth, every); }

    Async(Node program, long every) { super(program, every); }

    @Override
    public Object request() throws Exception {
        if (COUNTS) {
            count.taken();
        }
        return loop.value(eval(program, null));
    }

    @Override
    public final void on(Executor executor) { scheduler = executor; }

    @Override
    public final void request(BiConsumer<Object, Throwable> done) {
        if (COUNTS) {
            count.taken();
        }
        eval(program, null).whenComplete(done);
    }

    /** Where an element that suspends goes on. */
    Executor scheduler() { return scheduler; }

    /** What a literal gives. */
    CompletableFuture<Object> literal(Node.Literal literal) { return there(literal.value()); }

    static CompletableFuture<Object> there(Object value) { return CompletableFuture.completedFuture(value); }

    CompletableFuture<Object> eval(Node node, Env env) {
        if (!COUNTS) {
            return value(node, env);
        }
        count.entered();
        count.made();
        return value(node, env).thenApply(value -> {
            count.left();
            return value;
        });
    }

    /** What {@code next} makes of the value of {@code first}. */
    final CompletableFuture<Object> then(CompletableFuture<Object> first, Function<Object, CompletableFuture<Object>> next) {
        if (COUNTS) {
            count.taken();
        }
        return first.thenCompose(next);
    }

    /** A result that is passed on as it is, and so used. */
    private CompletableFuture<Object> passed(CompletableFuture<Object> result) {
        if (COUNTS) {
            count.taken();
        }
        return result;
    }

    private CompletableFuture<Object> value(Node node, Env env) {
        if (node instanceof Node.Literal literal) {
            return literal(literal);
        } else if (node instanceof Node.Var variable) {
            return there(Env.find(env, variable.name()));
        } else if (node instanceof Node.Bin bin) {
            return then(eval(bin.left(), env), left ->
                    then(eval(bin.right(), env), right -> call(bin.function(), new Object[] {left, right})));
        } else if (node instanceof Node.If choice) {
            return then(eval(choice.condition(), env), condition -> {
                Object chosen = branch(choice, condition);
                return chosen instanceof Node next ? passed(eval(next, env)) : there(chosen);
            });
        } else if (node instanceof Node.Call call) {
            return arguments(call, env, new Object[call.arguments().length], 0);
        } else if (node instanceof Node.Let let) {
            return then(eval(let.value(), env), value -> passed(eval(let.body(), bind(env, let.name(), value))));
        }
        return there(new Closure(env, (Node.Lambda) node));
    }

    /** Evaluates the arguments of a call from {@code i} on, and calls. */
    private CompletableFuture<Object> arguments(Node.Call call, Env env, Object[] arguments, int i) {
        if (i == arguments.length) {
            return call(call.function(), arguments);
        }
        return then(eval(call.arguments()[i], env), value -> {
            arguments[i] = value;
            return arguments(call, env, arguments, i + 1);
        });
    }

    private CompletableFuture<Object> call(Node.Callee callee, Object[] arguments) {
        Object found = callee(callee, arguments);
        if (found instanceof Builtin function) {
            return function == Builtin.MAP ? map(arguments) : there(function.apply(arguments));
        }
        return there(found);
    }

    /** {@code List::map}. An element begins when the one before it has its value. */
    CompletableFuture<Object> map(Object[] arguments) {
        Failure wrong = mismatch(arguments);
        return wrong != null
                ? there(wrong)
                : elements((Object[]) arguments[0], (Closure) arguments[1], new Object[((Object[]) arguments[0]).length], 0);
    }

    private CompletableFuture<Object> elements(Object[] list, Closure closure, Object[] values, int i) {
        if (i == list.length) {
            return there(Failure.orList(values));
        }
        return then(apply(closure, list[i]), value -> {
            values[i] = value;
            return elements(list, closure, values, i + 1);
        });
    }

    final CompletableFuture<Object> apply(Closure closure, Object element) {
        CompletableFuture<Object> value = begins(element)
                ? CompletableFuture.runAsync(NOTHING, scheduler()).thenCompose(paused -> {
                    if (COUNTS) {
                        count.suspended();
                    }
                    return eval(closure.written().body(), application(closure, element));
                })
                : eval(closure.written().body(), application(closure, element));
        return COUNTS ? value.thenApply(there -> logged(element, there)) : value;
    }

    private Object logged(Object element, Object value) {
        count.hasValue(element);
        return value;
    }
}
