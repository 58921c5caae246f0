package taskscale.sdk;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** One way of doing a workload. Its methods add to what the description says of it. */
public final class Variant {
    /** Does the work of a request and returns what {@link Run#time} gave. Whatever it throws fails that request. */
    public interface Perform {
        Timing apply(Run run) throws Exception;
    }

    final Map<String, Object> fields = new LinkedHashMap<>();
    final Map<String, List<Object>> only = new LinkedHashMap<>();
    final Perform perform;

    Variant(String name, Perform perform) {
        this.perform = perform;
        fields.put("name", name);
        fields.put("creates_task", true);
    }

    /** Says whether each unit is a task that the scheduler sees; it is, unless you say no. */
    public Variant createsTask(boolean creates) {
        return with("creates_task", creates);
    }

    /**
     * Limits a parameter to some of its values, words, flags or integers. The first of them is what an absent value
     * means here, unless the default is among them.
     */
    public Variant only(String param, Object... values) {
        only.put(param, Stream.of(values).map(Param::value).toList());
        return with("only", only);
    }

    /** Says what size it can bear at most; the reason belongs into the note. */
    public Variant maxSize(long most) {
        return with("max_size", most);
    }

    /** Says that this JDK or machine cannot do it, and what would help. */
    public Variant unavailable(String reason, String remedy) {
        return with("unavailable", Map.of("reason", reason, "remedy", remedy));
    }

    /** Adds one line for people. */
    public Variant note(String note) {
        return with("note", note);
    }

    private Variant with(String name, Object value) {
        fields.put(name, value);
        return this;
    }
}
