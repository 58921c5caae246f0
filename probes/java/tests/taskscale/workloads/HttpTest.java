package taskscale.workloads;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import taskscale.sdk.Json;
import taskscale.sdk.Probe;

/** The server of {@code interp}. Each test starts this class as a probe, since a server needs the tool's lines. */
final class HttpTest {
    private static final List<String> VARIANTS =
            InterpTest.here(List.of("sync", "async", "async/cached", "task", "union", "constant"), "green");
    private static final HttpClient CLIENT = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    /** Serves as a probe, with one variant whose right bytes are others than it gives. */
    public static void main(String[] args) {
        Interp.declare();
        Probe.variant("interp", "broken", run ->
                new Interp.Worker(Interp.TIMED.evaluator("Sync", false, 0, 0), 0, "[1]".getBytes()).serve(run, Pools.one()));
        Probe.serve("java", "test");
    }

    static void all() {
        InterpTest.test("a server answers the right bytes, and counts them since begin", () -> {
            try (Tool tool = new Tool()) {
                for (String variant : VARIANTS) {
                    answersAndCounts(tool, variant, false);
                    answersAndCounts(tool, variant, true);
                }
            }
        });
        InterpTest.test("requests on many connections are answered while others suspend", () -> {
            try (Tool tool = new Tool()) {
                for (String variant : VARIANTS) {
                    Map<?, ?> said = tool.serve(variant, Map.of("mode", "http-closed", "pause", 100L));
                    tool.ask("begin");
                    var all = IntStream.range(0, 40)
                            .mapToObj(i -> CLIENT.sendAsync(request(said), HttpResponse.BodyHandlers.ofByteArray()))
                            .toList();
                    for (CompletableFuture<HttpResponse<byte[]>> one : all) {
                        same(new String(Interp.output()), new String(one.get().body()), variant);
                    }
                    same(40L, tool.ask("stop").get("answer"), variant);
                }
            }
        });
        InterpTest.test("an output that is wrong is told in the response, and is no sample", () -> {
            try (Tool tool = new Tool()) {
                Map<?, ?> said = tool.serve("broken", Map.of("mode", "http-open"));
                tool.ask("begin");
                HttpResponse<String> response = CLIENT.send(request(said), HttpResponse.BodyHandlers.ofString());
                same(500, response.statusCode(), "status");
                Map<?, ?> sample = tool.ask("stop");
                same("error", sample.get("type"), "" + sample);
                for (String words : List.of(response.body(), (String) sample.get("message"))) {
                    same(true, words.contains("a request's output differs from byte 1 on"), words);
                }
            }
        });
    }

    private static void answersAndCounts(Tool tool, String variant, boolean verify) throws Exception {
        Map<?, ?> said = tool.serve(variant, Map.of("mode", "http-open", "pause", 6L, "verify", verify));
        same(true, ((String) said.get("server")).startsWith("jdk.httpserver " + Runtime.version()), "" + said);
        same("error", tool.ask("describe").get("type"), "a description");
        if (!verify) {
            get(said); // It comes before begin, and is no part of the answer.
        }
        same("began", tool.ask("begin").get("type"), "begin");
        for (int i = 0; i < 3; i++) {
            get(said);
        }
        Map<?, ?> sample = tool.ask("stop"), extra = (Map<?, ?>) sample.get("extra");
        same(List.of(3L, 5L), List.of(sample.get("answer"), sample.get("id")), variant);
        // The JVM's own clock has steps of 10 ms where the system's cannot be called.
        same(true, (Long) sample.get("cpu_ns") >= 0 && (Long) sample.get("wall_ns") > 0, variant + " times");
        if (!verify || variant.equals("constant")) {
            same(Map.of(), extra, variant);
            return;
        }
        Map<String, Object> right = InterpTest.right(6);
        for (String sum : List.of("nodes", "builtins", "applications", "extensions", "suspended")) {
            right.put(sum, (Long) right.get(sum) / 2);
        }
        same(right, new TreeMap<>(extra), variant);
    }

    private static void get(Map<?, ?> serving) throws Exception {
        HttpResponse<String> response = CLIENT.send(request(serving), HttpResponse.BodyHandlers.ofString());
        same(200, response.statusCode(), "status");
        same(614L, response.headers().firstValueAsLong("content-length").orElse(-1), "content-length");
        same(new String(Interp.output()), response.body(), "body");
    }

    private static HttpRequest request(Map<?, ?> serving) {
        URI uri = URI.create("http://127.0.0.1:" + serving.get("port") + "/");
        return HttpRequest.newBuilder(uri).timeout(Duration.ofMinutes(1)).build();
    }

    private static void same(Object right, Object got, String what) { InterpTest.same(right, got, what); }

    /** What the tool does: a probe, its lines, and replies. */
    private static final class Tool implements AutoCloseable {
        private final Process probe;
        private final BufferedReader replies;

        Tool() throws IOException {
            String java = ProcessHandle.current().info().command().orElseThrow();
            probe = new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), "taskscale.workloads.HttpTest")
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            replies = probe.inputReader();
        }

        Map<?, ?> serve(String variant, Map<String, Object> params) throws IOException {
            Map<?, ?> said = ask(Json.object("type", "run", "id", 5L, "workload", "interp", "variant", variant, "size", 3L,
                    "iterations", 1L, "seed", 1L, "params", params));
            same("serving", said.get("type"), "" + said);
            return said;
        }

        Map<?, ?> ask(String type) throws IOException { return ask(Json.object("type", type, "id", 5L)); }

        private Map<?, ?> ask(Map<String, Object> line) throws IOException {
            probe.outputWriter().append(Json.write(line)).append('\n').flush();
            return (Map<?, ?>) Json.read(replies.readLine());
        }

        /** The probe ends where its input does. */
        @Override
        public void close() throws IOException {
            probe.outputWriter().close();
            try {
                same(0, probe.waitFor(), "exit status");
            } catch (InterruptedException stopped) {
                probe.destroyForcibly();
                throw new IOException(stopped);
            }
        }
    }
}
