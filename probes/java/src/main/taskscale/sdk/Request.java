package taskscale.sdk;

import java.util.List;
import java.util.LinkedHashMap;
import java.util.Map;

/** A {@code run} request, checked against the description: every field present and of its kind, every word known. */
record Request(long id, Variant variant, Run run) {
    // Every JSON reader keeps numbers exact up to here (JavaScript's do).
    private static final long MAX_SEED = (1L << 53) - 1;
    // Virtual machines keep a few elements of the 2^31 - 1 for themselves.
    private static final int MAX_ARRAY = Integer.MAX_VALUE - 8;

    static Request read(Map<?, ?> message, Map<String, Workload> workloads) {
        Workload workload = known(workloads, field(message, "workload", String.class, "a string"), "workload");
        Variant variant = known(workload.variants(), field(message, "variant", String.class, "a string"), "variant");
        Object name = variant.fields.get("name");
        long size = atLeastOne(message, "size");
        long most = (Long) variant.fields.getOrDefault("max_size", (long) MAX_ARRAY);
        if (Long.compareUnsigned(size, most) > 0) {
            String why = most == MAX_ARRAY ? "an array of Java holds" : "variant " + name + " can bear";
            throw new Refused("size " + Json.write(size) + " is above " + most + ", the most that " + why);
        }
        long seed = integer(message, "seed");
        if (Long.compareUnsigned(seed, MAX_SEED) > 0) {
            throw new Refused("seed " + Json.write(seed) + " is above " + MAX_SEED + " (2^53 - 1)");
        }
        if (message.containsKey("params") && !(message.get("params") instanceof Map)) {
            throw new Refused("params is " + Json.show(message.get("params")) + ", not an object");
        }
        Map<String, Object> params = new LinkedHashMap<>();
        if (message.get("params") instanceof Map<?, ?> given) {
            given.forEach((key, value) -> params.put((String) key, value));
        }
        long id = integer(message, "id");
        long iterations = atLeastOne(message, "iterations");
        boolean verify = reserved(params, "verify");
        boolean phases = reserved(params, "phases");
        fill(params, workload.params(), variant);
        if (variant.fields.get("unavailable") instanceof Map<?, ?> why) {
            throw new Refused("variant " + name + " " + why.get("reason") + "; " + why.get("remedy"));
        }
        return new Request(id, variant, new Run((int) size, iterations, seed, verify, phases, params));
    }

    /** Checks the values given and adds the defaults of the others. */
    private static void fill(Map<String, Object> params, Map<String, Param> declared, Variant variant) {
        params.forEach((name, value) -> {
            Param param = known(declared, name, "parameter");
            if (!param.takes(value)) {
                String is = " cannot be " + Json.show(value) + "; it is " + param.kind();
                throw new Refused("parameter " + name + is);
            }
        });
        declared.forEach((name, param) -> {
            List<Object> allowed = variant.only.getOrDefault(name, List.of(param.initial()));
            params.putIfAbsent(name, allowed.contains(param.initial()) ? param.initial() : allowed.get(0));
            if (variant.only.containsKey(name) && !allowed.contains(params.get(name))) {
                String wanted = name + " " + Json.show(params.get(name)) + ", only with " + Json.listed(allowed);
                throw new Refused("variant " + variant.fields.get("name") + " cannot be run with " + wanted);
            }
        });
    }

    private static boolean reserved(Map<String, Object> params, String name) {
        Object value = params.containsKey(name) ? params.remove(name) : (Object) false;
        if (value instanceof Boolean flag) {
            return flag;
        }
        throw new Refused("parameter " + name + " cannot be " + Json.show(value) + "; it is true or false");
    }

    private static <T> T known(Map<String, T> all, String name, String what) {
        if (!all.containsKey(name)) {
            String those = String.join(", ", all.keySet());
            throw new Refused("unknown " + what + " " + Json.show(name) + "; known here: " + those);
        }
        return all.get(name);
    }

    static <T> T field(Map<?, ?> message, String name, Class<T> type, String kind) {
        if (!message.containsKey(name)) {
            throw new Refused("the request has no field " + Json.show(name));
        }
        if (!type.isInstance(message.get(name))) {
            throw new Refused(name + " is " + Json.show(message.get(name)) + ", not " + kind);
        }
        return type.cast(message.get(name));
    }

    private static long integer(Map<?, ?> message, String name) {
        return field(message, name, Long.class, Json.INTEGER);
    }

    private static long atLeastOne(Map<?, ?> message, String name) {
        long value = integer(message, name);
        if (value == 0) {
            throw new Refused(name + " is 0; it must be at least 1");
        }
        return value;
    }
}
