package taskscale.sdk;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/** The loop: a line in, a line out, flushed at once. A request that cannot be done gets an error, not an end. */
record Server(Supplier<Map<String, Object>> description, String name) {
    // The longest line that is read, in bytes; a request of ours has about 200. The rest of a longer one is skipped,
    // so that junk cannot fill the memory.
    private static final int MAX_LINE = 1 << 20;

    /** Serves standard input until it ends or says {@code exit}. The exit status: 0, or 1 where a pipe failed. */
    int serve() {
        // Whatever a workload prints must not get between the replies.
        System.setOut(System.err);
        InputStream input = new BufferedInputStream(new FileInputStream(FileDescriptor.in));
        OutputStream output = new FileOutputStream(FileDescriptor.out);
        try {
            for (byte[] line = readLine(input); line != null; line = readLine(input)) {
                Map<String, Object> reply = reply(line);
                if (reply == null) {
                    break;
                }
                output.write((Json.write(reply) + "\n").getBytes(StandardCharsets.UTF_8));
            }
            return 0;
        } catch (IOException failed) {
            System.err.println("probe " + name + ": standard input or output failed: " + failed.getMessage());
            return 1;
        }
    }

    /** The reply to a line; none to {@code exit}. */
    private Map<String, Object> reply(byte[] line) {
        try {
            if (line.length > MAX_LINE) {
                throw new Refused("the line is longer than " + MAX_LINE + " bytes");
            }
            String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(line)).toString();
            if (!(Json.read(text) instanceof Map<?, ?> message)) {
                throw new Refused("the line is not a JSON object");
            }
            String type = Request.field(message, "type", String.class, "a string");
            return switch (type) {
                case "exit" -> null;
                case "describe" -> describe(message);
                case "run" -> run(Request.read(message, Probe.WORKLOADS));
                default -> throw new Refused(
                        "unknown request type " + Json.show(type) + "; known here: describe, run, exit");
            };
        } catch (CharacterCodingException notUtf8) {
            return error("the line is not JSON: it is not UTF-8");
        } catch (Refused refused) {
            return error(refused.getMessage());
        }
    }

    private Map<String, Object> describe(Map<?, ?> message) {
        Object asked = Request.field(message, "protocol", Object.class, "a number");
        if (asked.equals(Probe.PROTOCOL)) {
            return description.get();
        }
        Map<String, Object> reply = error("the tool speaks protocol " + Json.show(asked) + ", this probe of " + name
                + " speaks protocol " + Probe.PROTOCOL + "; use a tool and a probe of one release");
        reply.put("protocol", Probe.PROTOCOL);
        return reply;
    }

    private static Map<String, Object> run(Request request) {
        Timing timing;
        try {
            timing = request.variant().perform.apply(request.run());
        } catch (Refused refused) {
            throw refused;
        } catch (Throwable thrown) { // a workload may throw anything, be it out of memory; this request alone fails
            String name = Json.show(request.variant().fields.get("name"));
            throw new Refused("variant " + name + " failed: " + thrown);
        }
        Map<String, Object> sample = new LinkedHashMap<>();
        sample.put("type", "sample");
        sample.put("id", request.id());
        sample.put("wall_ns", timing.wallNs());
        sample.put("cpu_ns", timing.cpuNs());
        sample.put("answer", timing.answer());
        if (!timing.extra().isEmpty()) {
            sample.put("extra", timing.extra());
        }
        return sample;
    }

    private static Map<String, Object> error(String message) {
        Map<String, Object> reply = new LinkedHashMap<>();
        reply.put("type", "error");
        reply.put("message", message);
        return reply;
    }

    /** A line without its end; one byte more than is allowed of one that is too long; null at the end of input. */
    private static byte[] readLine(InputStream input) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        int next = input.read();
        if (next < 0) {
            return null;
        }
        for (; next >= 0 && next != '\n'; next = input.read()) {
            if (line.size() <= MAX_LINE) {
                line.write(next);
            }
        }
        return line.toByteArray();
    }
}
