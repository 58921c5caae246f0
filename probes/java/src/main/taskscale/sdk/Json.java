package taskscale.sdk;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * JSON, strictly (RFC 8259), for lack of one in the JDK. Objects are {@code Map}s, arrays {@code List}s, integers
 * from 0 to 2^64 - 1 {@code Long}s whose bits are unsigned, and all other numbers {@link Other}.
 */
public final class Json {
    // Requests nest twice. The bound keeps junk from exhausting the stack.
    private static final int MAX_DEPTH = 64;
    private static final Pattern NUMBER = Pattern.compile("-?+(?:0|[1-9][0-9]*+)([.][0-9]++)?+([eE][+-]?+[0-9]++)?+");
    private static final String ESCAPED = "\"\\/bfnrt";
    private static final String UNESCAPED = "\"\\/\b\f\n\r\t";

    /** A number that is no integer from 0 to 2^64 - 1. */
    private record Other(String text) {
        @Override
        public String toString() {
            return text;
        }
    }

    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** The value of a text, or an {@code IllegalArgumentException}. */
    public static Object read(String text) {
        Json json = new Json(text);
        Object value = json.value(0);
        if (json.peek() != 0 || json.at < text.length()) {
            throw json.wrong("expected the end");
        }
        return value;
    }

    private Object value(int depth) {
        if (depth > MAX_DEPTH) {
            throw wrong("nested deeper than " + MAX_DEPTH);
        }
        return switch (peek()) {
            case '{' -> object(depth);
            case '[' -> array(depth);
            case '"' -> string();
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            case 'n' -> word("null", null);
            default -> number();
        };
    }

    private Map<String, Object> object(int depth) {
        Map<String, Object> members = new LinkedHashMap<>();
        take('{');
        while (peek() != '}') {
            if (!members.isEmpty()) {
                take(',');
            }
            if (peek() != '"') {
                throw wrong("expected a name in quotes");
            }
            String name = string();
            take(':');
            members.put(name, value(depth + 1));
        }
        take('}');
        return members;
    }

    private List<Object> array(int depth) {
        List<Object> elements = new ArrayList<>();
        take('[');
        while (peek() != ']') {
            if (!elements.isEmpty()) {
                take(',');
            }
            elements.add(value(depth + 1));
        }
        take(']');
        return elements;
    }

    private String string() {
        StringBuilder string = new StringBuilder();
        for (at++; at < text.length() && text.charAt(at) != '"'; at++) {
            char next = text.charAt(at);
            if (next < ' ') {
                throw wrong("control character in a string");
            }
            string.append(next == '\\' ? escape() : next);
        }
        take('"');
        return string.toString();
    }

    /** The character of the escape that begins here; stops at its last one. */
    private char escape() {
        char kind = ++at < text.length() ? text.charAt(at) : 0;
        if (ESCAPED.indexOf(kind) >= 0) {
            return UNESCAPED.charAt(ESCAPED.indexOf(kind));
        }
        if (kind != 'u' || !text.substring(at + 1, Math.min(at + 5, text.length())).matches("[0-9a-fA-F]{4}")) {
            throw wrong("unknown escape in a string");
        }
        at += 4;
        return (char) Integer.parseInt(text, at - 3, at + 1, 16);
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) {
            throw wrong("expected a value");
        }
        at += word.length();
        return value;
    }

    private Object number() {
        Matcher number = NUMBER.matcher(text).region(at, text.length());
        if (!number.lookingAt()) {
            throw wrong("expected a value");
        }
        at = number.end();
        // 2^64 - 1 has 20 digits.
        if (number.group().matches("[0-9]{1,20}")) {
            try {
                return Long.parseUnsignedLong(number.group());
            } catch (NumberFormatException above) {
                return new Other(number.group());
            }
        }
        return new Other(number.group());
    }

    /** The next character that is no space, which stays; 0 at the end. */
    private char peek() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        return at < text.length() ? text.charAt(at) : 0;
    }

    private void take(char expected) {
        if (peek() != expected) {
            throw wrong("expected " + expected);
        }
        at++;
    }

    private IllegalArgumentException wrong(String reason) {
        return new IllegalArgumentException("the line is not JSON: " + reason + " at column " + (at + 1));
    }

    public static String write(Object value) {
        if (value instanceof Map<?, ?> map) {
            return map.entrySet().stream()
                    .map(member -> write(member.getKey()) + ":" + write(member.getValue()))
                    .collect(Collectors.joining(",", "{", "}"));
        }
        if (value instanceof Collection<?> list) {
            return list.stream().map(Json::write).collect(Collectors.joining(",", "[", "]"));
        }
        if (value instanceof Long number) {
            return Long.toUnsignedString(number);
        }
        return value instanceof String string ? quoted(string) : String.valueOf(value);
    }

    private static String quoted(String string) {
        StringBuilder quoted = new StringBuilder("\"");
        string.chars().forEach(next -> {
            if (next < ' ') {
                quoted.append(String.format("\\u%04x", next));
            } else {
                quoted.append(next == '"' || next == '\\' ? "\\" : "").append((char) next);
            }
        });
        return quoted.append('"').toString();
    }

    /** An object of names and their values, in that order. */
    public static Map<String, Object> object(Object... pairs) {
        Map<String, Object> object = new LinkedHashMap<>();
        for (int at = 0; at < pairs.length; at += 2) {
            object.put((String) pairs[at], pairs[at + 1]);
        }
        return object;
    }
}
