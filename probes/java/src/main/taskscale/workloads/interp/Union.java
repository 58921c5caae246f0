package taskscale.workloads.interp;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Function;

/** {@code union}: a result is a value or a pending one, and what follows is chained only where it is pending. */
public class Union extends Machine {
    private static final Runnable NOTHING = () -> {};
    private final Loop loop = new Loop();
    private Executor scheduler = loop;

    public Union(boolean linked, long depth, long every) { super(linked, depth, every); }

    Union(Node program, long every) { super(program, every); }

    /** A value that is there, or that {@code pending} gives, where that is not null. */
    record Result(Object value, CompletableFuture<Object> pending) {}

    @Override
    public Object request() throws Exception {
        Result result = eval(program, null);
        return result.pending == null ? result.value : loop.value(value(result));
    }

    @Override
    public final void on(Executor executor) { scheduler = executor; }

    @Override
    public final void request(BiConsumer<Object, Throwable> done) {
        Result result = eval(program, null);
        if (result.pending == null) {
            done.accept(result.value, null);
        } else {
            value(result).whenComplete(done);
        }
    }

    static Result there(Object value) { return new Result(value, null); }

    private Result later(CompletableFuture<Object> future) {
        if (COUNTS) {
            count.made();
        }
        return new Result(null, future);
    }

    /** The future of a result, which is used by that. */
    final CompletableFuture<Object> value(Result result) {
        if (result.pending == null) {
            return CompletableFuture.completedFuture(result.value);
        }
        if (COUNTS) {
            count.taken();
        }
        return result.pending;
    }

    /** What {@code next} makes of the value of {@code first}: at once, or when it is there. */
    final Result then(Result first, Function<Object, Result> next) {
        return first.pending == null
                ? next.apply(first.value)
                : later(value(first).thenCompose(value -> value(next.apply(value))));
    }

    final Result eval(Node node, Env env) {
        if (!COUNTS) {
            return result(node, env);
        }
        count.entered();
        return then(result(node, env), value -> {
            count.left();
            return there(value);
        });
    }

    private Result result(Node node, Env env) {
        if (node instanceof Node.Literal literal) {
            return there(literal.value());
        } else if (node instanceof Node.Var variable) {
            return there(Env.find(env, variable.name()));
        } else if (node instanceof Node.Bin bin) {
            return then(eval(bin.left(), env), left ->
                    then(eval(bin.right(), env), right -> call(bin.function(), new Object[] {left, right})));
        } else if (node instanceof Node.If choice) {
            return then(eval(choice.condition(), env), condition -> {
                Object chosen = branch(choice, condition);
                return chosen instanceof Node next ? eval(next, env) : there(chosen);
            });
        } else if (node instanceof Node.Call call) {
            Node[] nodes = call.arguments();
            return inTurn(new Object[nodes.length], 0, i -> eval(nodes[i], env), values -> call(call.function(), values));
        } else if (node instanceof Node.Let let) {
            return then(eval(let.value(), env), value -> eval(let.body(), bind(env, let.name(), value)));
        }
        return there(new Closure(env, (Node.Lambda) node));
    }

    /** What {@code last} makes of the values of results, each of which is asked for when the one before it is there. */
    private Result inTurn(Object[] values, int from, Function<Integer, Result> ask, Function<Object[], Result> last) {
        for (int i = from; i < values.length; i++) {
            Result one = ask.apply(i);
            if (one.pending != null) {
                int at = i;
                return then(one, value -> {
                    values[at] = value;
                    return inTurn(values, at + 1, ask, last);
                });
            }
            values[i] = one.value;
        }
        return last.apply(values);
    }

    private Result call(Node.Callee callee, Object[] arguments) {
        Object found = callee(callee, arguments);
        if (found instanceof Builtin function) {
            return function == Builtin.MAP ? map(arguments) : there(function.apply(arguments));
        }
        return there(found);
    }

    /** {@code List::map}. An element begins when the one before it has its value. */
    Result map(Object[] arguments) {
        Failure wrong = mismatch(arguments);
        if (wrong != null) {
            return there(wrong);
        }
        Object[] list = (Object[]) arguments[0];
        Closure closure = (Closure) arguments[1];
        return inTurn(new Object[list.length], 0, i -> apply(closure, list[i]), values -> there(Failure.orList(values)));
    }

    final Result apply(Closure closure, Object element) {
        Result result = begins(element)
                ? then(later(CompletableFuture.runAsync(NOTHING, scheduler).thenApply(paused -> null)), paused -> {
                    if (COUNTS) {
                        count.suspended();
                    }
                    return eval(closure.written().body(), application(closure, element));
                })
                : eval(closure.written().body(), application(closure, element));
        if (!COUNTS) {
            return result;
        }
        return then(result, value -> {
            count.hasValue(element);
            return there(value);
        });
    }
}
