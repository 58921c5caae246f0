package taskscale.workloads.interp;

import java.util.HashMap;
import java.util.Map;

/** A function of the program that cannot suspend. */
interface Builtin {
    Object apply(Object[] arguments);

    /** {@code List::map}, which may suspend: each encoding has its own in place of this. */
    Builtin MAP = arguments -> new Failure("List::map is of an encoding");

    Map<String, Builtin> ALL = new HashMap<>(Map.of(
            "Int::range", Builtin::range,
            "Int::%", Builtin::remainder,
            "Int::==", Builtin::equal,
            "Int::toString", Builtin::text,
            "List::map", MAP));

    private static Object range(Object[] arguments) {
        if (arguments.length == 2 && arguments[0] instanceof Long first && arguments[1] instanceof Long last) {
            Object[] values = new Object[(int) Math.max(last - first + 1, 0)];
            for (int i = 0; i < values.length; i++) {
                values[i] = first + i;
            }
            return values;
        }
        return new Failure("Int::range needs two integers");
    }

    private static Object remainder(Object[] arguments) {
        if (arguments.length == 2 && arguments[0] instanceof Long left && arguments[1] instanceof Long right) {
            return right == 0 ? 0L : left % right;
        }
        return new Failure("Int::% needs two integers");
    }

    private static Object equal(Object[] arguments) {
        if (arguments.length == 2 && arguments[0] instanceof Long left && arguments[1] instanceof Long right) {
            return left.longValue() == right.longValue();
        }
        return new Failure("Int::== needs two integers");
    }

    private static Object text(Object[] arguments) {
        if (arguments.length == 1 && arguments[0] instanceof Long integer) {
            return Long.toString(integer);
        }
        return new Failure("Int::toString needs an integer");
    }
}
