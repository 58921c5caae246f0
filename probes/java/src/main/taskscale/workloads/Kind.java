package taskscale.workloads;

import java.io.IOException;
import java.io.InputStream;
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
public final class Kind extends ClassLoader {
    static final String FORMS = "taskscale.workloads.forms.";
    static final Kind PLAIN = new Kind(new Body.Plain());
    static final Kind SPUN = new Kind(new Body.Spun());
    static final Kind NOTHING = new Kind(new Body.Nothing());
    static final Kind COUNTED = new Kind(new Body.Counted());

    final Body body;
    private final Map<String, Form> forms = new HashMap<>();

    private Kind(Body body) {
        super(Kind.class.getClassLoader());
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

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded != null ? loaded : name.startsWith(FORMS) ? copy(name) : super.loadClass(name, resolve);
        }
    }

    private Class<?> copy(String name) throws ClassNotFoundException {
        try (InputStream file = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (file == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] bytes = file.readAllBytes();
            return defineClass(name, bytes, 0, bytes.length);
        } catch (IOException failed) {
            throw new ClassNotFoundException(name, failed);
        }
    }
}
