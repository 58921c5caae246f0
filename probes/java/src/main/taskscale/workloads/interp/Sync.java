package taskscale.workloads.interp;

import java.util.function.BiConsumer;

/** {@code sync}: plain recursion, which cannot suspend. An element that would yields its thread in place. */
public class Sync extends Machine {
    public Sync(boolean linked, long depth, long every) { super(linked, depth, every); }

    Sync(Node program, long every) { super(program, every); }

    @Override
    public Object request() throws Exception { return eval(program, null); }

    @Override
    public void request(BiConsumer<Object, Throwable> done) { done.accept(eval(program, null), null); }

    final Object eval(Node node, Env env) {
        if (!COUNTS) {
            return value(node, env);
        }
        count.entered();
        Object value = value(node, env);
        count.left();
        return value;
    }

    private Object value(Node node, Env env) {
        if (node instanceof Node.Literal literal) {
            return literal.value();
        } else if (node instanceof Node.Var variable) {
            return Env.find(env, variable.name());
        } else if (node instanceof Node.Bin bin) {
            Object left = eval(bin.left(), env);
            return call(bin.function(), new Object[] {left, eval(bin.right(), env)});
        } else if (node instanceof Node.If choice) {
            Object chosen = branch(choice, eval(choice.condition(), env));
            return chosen instanceof Node next ? eval(next, env) : chosen;
        } else if (node instanceof Node.Call call) {
            Object[] arguments = new Object[call.arguments().length];
            for (int i = 0; i < arguments.length; i++) {
                arguments[i] = eval(call.arguments()[i], env);
            }
            return call(call.function(), arguments);
        } else if (node instanceof Node.Let let) {
            return eval(let.body(), bind(env, let.name(), eval(let.value(), env)));
        }
        return new Closure(env, (Node.Lambda) node);
    }

    private Object call(Node.Callee callee, Object[] arguments) {
        Object found = callee(callee, arguments);
        if (found instanceof Builtin function) {
            return function == Builtin.MAP ? map(arguments) : function.apply(arguments);
        }
        return found;
    }

    /** {@code List::map}. An element begins when the one before it has its value. */
    Object map(Object[] arguments) {
        Failure wrong = mismatch(arguments);
        if (wrong != null) {
            return wrong;
        }
        Object[] list = (Object[]) arguments[0], values = new Object[list.length];
        Closure closure = (Closure) arguments[1];
        for (int i = 0; i < list.length; i++) {
            values[i] = apply(closure, list[i]);
        }
        return Failure.orList(values);
    }

    final Object apply(Closure closure, Object element) {
        if (begins(element)) {
            Thread.yield();
            if (COUNTS) {
                count.suspended();
            }
        }
        Object value = eval(closure.written().body(), application(closure, element));
        if (COUNTS) {
            count.hasValue(element);
        }
        return value;
    }
}
