package taskscale.sdk;

import java.util.*;

/** One way of doing a workload. Its methods add to what the description says of it. */
public final class Variant {
    /** Does the work of a request and returns what {@link Run#time} gave. Whatever it throws fails that request. */
    public interface Perform { Timing apply(Run run) throws Exception; }

    final Map<String, List<Object>> only = new LinkedHashMap<>();
    final Map<String, Object> about;
    final Perform perform;

    Variant(String name, Perform perform) {
        this.perform = perform;
        // A size is the length of arrays. Virtual machines keep a few elements of their 2^31 - 1 for themselves.
        about = Json.object("name", name, "creates_task", true, "only", only, "max_size", Integer.MAX_VALUE - 8);
    }

    /** Says whether each unit is a task that the scheduler sees; it is, unless you say no. */
    public Variant createsTask(boolean creates) { return with("creates_task", creates); }

    /**
     * Limits a parameter to some of its values, words, flags or integers. The first of them is what an absent value
     * means here, unless the default is among them.
     */
    public Variant only(String param, Object... values) {
        only.put(param, List.of(values));
        return this;
    }

    /** Says what size it can bear at most; the reason belongs into the note. */
    public Variant maxSize(long most) { return with("max_size", most); }

    /** Says that this JDK or machine cannot do it, and what would help. */
    public Variant unavailable(String reason, String remedy) { return with("unavailable", Json.object("reason", reason, "remedy", remedy)); }

    /** Adds one line for people. */
    public Variant note(String note) { return with("note", note); }

    private Variant with(String name, Object value) {
        about.put(name, value);
        return this;
    }
}
