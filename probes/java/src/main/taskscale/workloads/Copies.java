package taskscale.workloads;

import java.io.IOException;
import java.io.InputStream;

/** Loads the classes whose names have a prefix again, so that they have static fields and profiles of their own. */
abstract class Copies extends ClassLoader {
    private final String prefix;

    Copies(String prefix) {
        super(Copies.class.getClassLoader());
        this.prefix = prefix;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded != null ? loaded : name.startsWith(prefix) ? copy(name) : super.loadClass(name, resolve);
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
