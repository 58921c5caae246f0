package taskscale.workloads;

import java.util.HashMap;
import java.util.Map;

/**
 * A kind of task, and a copy of all forms for it alone.
 *
 * <p>The virtual machine keeps one profile per method. Were a form's loop shared, then a process that has once run
 * counted tasks would choose between kinds in each task that it times, and figures would depend on what was asked for
 * before. So each kind loads the classes of {@code workloads.forms} again, in which {@code Task.BODY} is a constant to
 * the compiler.
 */
public final class Kind extends Copies {
    static final String FORMS = "taskscale.workloads.forms.";
    static final Kind PLAIN = new Kind(new Body.Plain());
    static final Kind SPUN = new Kind(new Body.Spun());
    static final Kind NOTHING = new Kind(new Body.Nothing());
    static final Kind COUNTED = new Kind(new Body.Counted());

    final Body body;
    private final Map<String, Form> forms = new HashMap<>();

    private Kind(Body body) {
        super(FORMS);
        this.body = body;
    }

    /** The body of tasks in a class that a kind has loaded. */
    public static Body bodyOf(Class<?> loaded) {
        return ((Kind) loaded.getClassLoader()).body;
    }

    /** This kind's copy of a form; made once, so that pools and profiles are those of the requests before. */
    Form form(String name) {
        return forms.computeIfAbsent(name, absent -> {
            try {
                return (Form) loadClass(FORMS + name).getConstructor().newInstance();
            } catch (ReflectiveOperationException failed) {
                throw new IllegalStateException("the form " + name + " cannot be loaded: " + failed, failed);
            }
        });
    }
}
