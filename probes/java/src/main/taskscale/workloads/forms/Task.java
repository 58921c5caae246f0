package taskscale.workloads.forms;

import taskscale.workloads.Body;
import taskscale.workloads.Kind;

/** What a task does, a constant in each copy of the forms. */
final class Task {
    private static final Body BODY = Kind.bodyOf(Task.class);

    private Task() {}

    /** Called by the creator before it creates a task. */
    static void created() {
        BODY.created();
    }

    /** The result of task {@code i}. */
    static long result(int i) {
        return BODY.result(i);
    }

    /** Task {@code i} where nobody wants its result. */
    static void discard(int i) {
        BODY.discard(i);
    }
}
