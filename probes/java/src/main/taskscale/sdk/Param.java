package taskscale.sdk;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A parameter of a workload; the type of its default is its type, and a word is one of {@code choices}. */
record Param(String name, Object initial, List<String> choices, String help) {
    boolean takes(Object value) {
        boolean kind = value != null && value.getClass() == initial.getClass();
        return kind && (choices.isEmpty() || choices.contains(value));
    }

    String kind() {
        if (!choices.isEmpty()) {
            return "one of " + Json.listed(choices);
        }
        return initial instanceof Boolean ? "true or false" : initial instanceof Long ? Json.INTEGER : "a word";
    }

    Map<String, Object> description() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("name", name);
        fields.put("default", initial);
        fields.put("choices", choices);
        fields.put("help", help);
        return fields;
    }

    /** A value as requests have it: integers are {@code Long}s. */
    static Object value(Object given) {
        return given instanceof Integer number ? (Object) number.longValue() : given;
    }
}
