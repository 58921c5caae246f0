package taskscale.workloads;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import taskscale.sdk.Clock;
import taskscale.sdk.Json;
import taskscale.sdk.Run;
import taskscale.sdk.Serve;
import taskscale.sdk.Timing;

/** {@code mode} http-closed and http-open: the server of the JDK, whose every GET evaluates a request. */
final class Http {
    static final String CLOSED = "http-closed", OPEN = "http-open";
    /** Connections that may wait to be accepted: the tool makes 100 before it sends anything. */
    private static final int BACKLOG = 128;

    /** Makes one request. Tells what is wrong with its output, or null, at once or later. */
    interface Answer { void request(Consumer<String> done) throws Exception; }

    private final byte[] right;
    private final Answer answer;
    /** Right responses since the timed part began. */
    private final AtomicLong answered = new AtomicLong();
    /** What was wrong with the first wrong output. */
    private final AtomicReference<String> wrong = new AtomicReference<>();

    private Http(byte[] right, Answer answer) {
        this.right = right;
        this.answer = answer;
    }

    static boolean wanted(Run run) {
        return run.word("mode").equals(CLOSED) || run.word("mode").equals(OPEN);
    }

    /** Serves until the tool says stop. {@code executor} reads requests, and makes them. */
    static Timing serve(Run run, Executor executor, byte[] right, Answer answer) throws Exception {
        // Read when the first server is made. Without the first, a JDK that sends head and body apart waits 40 ms for the
        // client in between. By the second, the default of 30 s, idle connections would be closed.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        System.setProperty("sun.net.httpserver.idleInterval", "86400");
        Http http = new Http(right, answer);
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), BACKLOG);
        server.createContext("/", http::handle);
        server.setExecutor(executor);
        server.start();
        try {
            Timing timing = http.timed(run.id, server.getAddress().getPort());
            if (http.wrong.get() != null) {
                throw new IllegalStateException(http.wrong.get());
            }
            return timing;
        } finally {
            server.stop(0);
        }
    }

    private void handle(HttpExchange exchange) {
        try {
            answer.request(differs -> respond(exchange, differs));
        } catch (Exception | Error failed) {
            respond(exchange, failed.toString());
        }
    }

    /** Responds with the right bytes, or with what is wrong. */
    private void respond(HttpExchange exchange, String differs) {
        byte[] body = right;
        if (differs == null) {
            // Before the response is out: who has it may ask for the count.
            answered.incrementAndGet();
        } else {
            wrong.compareAndSet(null, differs);
            body = differs.getBytes(StandardCharsets.UTF_8);
        }
        try (OutputStream to = exchange.getResponseBody()) {
            exchange.sendResponseHeaders(differs == null ? 200 : 500, body.length);
            to.write(body);
        } catch (IOException gone) {
            exchange.close(); // A connection that fails is the client's to tell.
        }
    }

    private Timing timed(long id, int port) throws IOException {
        String server = "jdk.httpserver " + Runtime.version() + " with TCP_NODELAY";
        Serve.say(Json.object("type", "serving", "id", id, "port", (long) port, "server", server));
        await("begin");
        answered.set(0);
        long wall = Clock.wallNs(), cpu = Clock.cpuNs();
        Serve.say(Json.object("type", "began", "id", id));
        await("stop");
        long cpuEnd = Clock.cpuNs(), wallEnd = Clock.wallNs();
        return new Timing(wallEnd - wall, cpuEnd - cpu, answered.get(), Json.object());
    }

    /** Waits for the tool to say {@code kind}. */
    private static void await(String kind) throws IOException {
        for (String line = Serve.LINES.readLine(); line != null; line = Serve.LINES.readLine()) {
            if (kind.equals(kindOf(line))) {
                return;
            }
            Serve.say(Json.object("type", "error", "message", "a server is running: say begin or stop"));
        }
        throw new EOFException("the tool is gone");
    }

    private static Object kindOf(String line) {
        try {
            return Json.read(line) instanceof Map<?, ?> asked ? asked.get("type") : null;
        } catch (IllegalArgumentException junk) {
            return null;
        }
    }
}
