package taskscale.workloads;

import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;

/** An encoding of the interpreter, over one program. */
public interface Evaluator {
    /** Evaluates the program, and returns its value. */
    Object request() throws Exception;

    /** Has requests of a server go on there where they suspend. They begin there too. */
    void on(Executor executor);

    /** Evaluates the program for a server. {@code done} gets the value, or what was thrown, at once or later. */
    void request(BiConsumer<Object, Throwable> done);

    /** A value as compact JSON. Throws where it is an error or a lambda. */
    byte[] written(Object value);

    /** Says that a request gave that output. */
    void answered(byte[] output);

    /** Adds what was counted to the counts of other workers, where this encoding counts. */
    void report(Map<String, Object> extra);
}
