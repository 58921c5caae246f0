package taskscale.sdk;

import java.util.LinkedHashMap;
import java.util.Map;

/** What is done, with its parameters and the ways of doing it. */
record Workload(String name, Map<String, Param> params, Map<String, Variant> variants) {
    Workload(String name) {
        this(name, new LinkedHashMap<>(), new LinkedHashMap<>());
    }

    Map<String, Object> description() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("name", name);
        fields.put("params", params.values().stream().map(Param::description).toList());
        fields.put("variants", variants.values().stream().map(variant -> variant.fields).toList());
        return fields;
    }
}
