package taskscale.workloads;

import java.util.Map;

/** An encoding of the interpreter, over one program. */
public interface Evaluator {
    /** Evaluates the program, and returns its value. */
    Object request() throws Exception;

    /** A value as compact JSON. Throws where it is an error or a lambda. */
    byte[] written(Object value);

    /** Says that a request gave that output. */
    void answered(byte[] output);

    /** Adds what was counted to the counts of other workers, where this encoding counts. */
    void report(Map<String, Object> extra);
}
