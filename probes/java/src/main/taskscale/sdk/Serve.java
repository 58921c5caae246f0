package taskscale.sdk;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.*;
import java.util.Map;

/** The loop: a line in, a line out, flushed at once. What cannot be done gets an error; the probe lives on. */
public final class Serve {
    /** The tool's lines. Between a request and its sample a workload may have lines of its own. */
    public static final BufferedReader LINES = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    private static final PrintStream REPLIES = new PrintStream(new FileOutputStream(FileDescriptor.out), false, UTF_8);

    static void loop(String name, String version, Integer workers) {
        // Whatever a workload prints must not get between the replies.
        System.setOut(System.err);
        LINES.lines().map(line -> reply(line, name, version, workers))
                .takeWhile(said -> said != null && !REPLIES.checkError())
                .forEach(Serve::say);
        System.exit(0);
    }

    /** Replies with a line. */
    public static void say(Map<String, Object> reply) { REPLIES.print(Json.write(reply) + "\n"); }

    /** The reply to a line; none to {@code exit}. Whatever is thrown, be it out of memory, fails this request alone. */
    private static Map<String, Object> reply(String line, String name, String version, Integer workers) {
        try {
            if (!(Json.read(line) instanceof Map<?, ?> asked)) throw new IllegalArgumentException("the line is not a JSON object");
            Object type = asked.get("type"), protocol = asked.get("protocol");
            if ("exit".equals(type)) return null;
            if ("run".equals(type)) return run(new Run(asked));
            if ("describe".equals(type) && protocol.equals(Probe.PROTOCOL)) return Probe.description(name, version, workers);
            throw new IllegalArgumentException("describe".equals(type)
                    ? "the tool speaks protocol " + Json.write(protocol) + ", this probe of " + name
                            + " speaks protocol " + Probe.PROTOCOL + "; use a tool and a probe of one release"
                    : "unknown request type " + Json.write(type) + "; known here: describe run exit");
        } catch (Throwable thrown) {
            String message = thrown instanceof IllegalArgumentException ? thrown.getMessage() : innermost(thrown).toString();
            return Json.object("type", "error", "message", place(thrown) + message, "protocol", Probe.PROTOCOL);
        }
    }

    /** Where in the user's own file it came up ({@code MyProbe.java:12: }), if there; then standard error has the trace. */
    private static String place(Throwable thrown) {
        String own = System.getenv("TASKSCALE_PROBE_FILE"), place = "";
        for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
            for (StackTraceElement frame : cause.getStackTrace()) {
                // What stands below the loop is where the loop was called.
                if (frame.getClassName().equals(Serve.class.getName())) break;
                if (own == null || !own.equals(frame.getFileName())) continue;
                place = own + ":" + frame.getLineNumber() + ": ";
                break;
            }
        }
        if (!place.isEmpty()) thrown.printStackTrace();
        return place;
    }

    private static Throwable innermost(Throwable thrown) {
        return thrown instanceof java.util.concurrent.ExecutionException && thrown.getCause() != null ? innermost(thrown.getCause()) : thrown;
    }

    /** Performs a request. */
    private static Map<String, Object> run(Run run) throws Exception {
        var before = Counters.read(run.counters);
        Timing timing = run.perform.apply(run);
        if (run.counters != null) timing.extra().put("counters", Counters.rise(before, Counters.read(run.counters)));
        return Json.object("type", "sample", "id", run.id, "wall_ns", timing.wallNs(), "cpu_ns", timing.cpuNs(),
                "answer", timing.answer(), "extra", timing.extra());
    }
}
