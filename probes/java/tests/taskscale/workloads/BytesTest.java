package taskscale.workloads;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.math.BigInteger;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import taskscale.sdk.Json;
import taskscale.sdk.Probe;

/** {@code bytes}: every way against the published sums, on lengths around a buffer's, and on bytes that come in drips. */
final class BytesTest {
    private static final int CHUNK = 65_536;

    /** The published sums of the content, and the start of its SHA-256. */
    private record Truth(int length, long sum8, long fnv, String sha) {}

    private static final List<Truth> TRUTHS = List.of(
            new Truth(8, 221, 0xfc3775c20640340cL, "09d257170e76614b"),
            new Truth(65_536, 214, 0x361ce99ee50d834fL, "21acd40c18c329e1"),
            new Truth(1_048_576, 38, 0xe5d2ee95ab2a6e4bL, "80c44bce2a8a3a5d"));

    /** A way, and the sources that it reads. */
    private record Way(String name, boolean file, boolean http) {
        List<String> modes() { return name.endsWith("/none") ? List.of("none") : List.of("sum8", "fnv"); }

        List<String> sources() { return !http ? List.of("file") : file ? List.of("file", "http") : List.of("http"); }

        /** Whether it reads from the start on; the others need a file that they can seek in. */
        boolean streams() { return !name.startsWith("FileChannel.map") && !name.startsWith("AsynchronousFileChannel"); }
    }

    private BytesTest() {}

    private static List<Way> ways() {
        return List.of(new Way("readAllBytes/for", true, false), new Way("readAllBytes/IntStream", true, false),
                        new Way("InputStream/for", true, true), new Way("InputStream/none", true, true),
                        new Way("FileChannel.heap/get", true, false), new Way("FileChannel.direct/get", true, false),
                        new Way("FileChannel.map/get", true, false), new Way("FileChannel.map/MemorySegment", true, false),
                        new Way("FileInputStream/read", true, false), new Way("BufferedInputStream/read", true, true),
                        new Way("AsynchronousFileChannel/get", true, false), new Way("HttpClient.ofByteArray/for", false, true),
                        new Way("HttpClient.ofByteArrayConsumer/for", false, true)).stream()
                .filter(way -> !way.name.endsWith("/MemorySegment") || Bytes.has("Segment"))
                .toList();
    }

    /** Serves as a probe, with one variant that looks at half of the bytes. */
    public static void main(String[] args) {
        Bytes.declare();
        Probe.variant("bytes", "half", run -> {
            Pass half = (from, chunk) -> Bytes.COUNTED.pass("readAllBytes/for", "sum8").once(Source.of("file", args[0]), chunk);
            Bytes.COUNTED.taken();
            return Bytes.judged(run, run.time(phases -> half.once(null, 1)));
        });
        Probe.serve("java", "test");
    }

    /** The words of xoshiro256**, least byte first, whose state is four outputs of splitmix64 from the seed 42. */
    private static byte[] content(int length) {
        long[] s = new long[4];
        for (int j = 0; j < 4; j++) {
            long z = 42 + (j + 1) * 0x9E3779B97F4A7C15L;
            z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
            z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
            s[j] = z ^ (z >>> 31);
        }
        ByteBuffer made = ByteBuffer.allocate((length + 7) / 8 * 8).order(ByteOrder.LITTLE_ENDIAN);
        while (made.hasRemaining()) {
            made.putLong(Long.rotateLeft(s[1] * 5, 7) * 9);
            long t = s[1] << 17;
            s[2] ^= s[0];
            s[3] ^= s[1];
            s[1] ^= s[2];
            s[0] ^= s[3];
            s[2] ^= t;
            s[3] = Long.rotateLeft(s[3], 45);
        }
        return Arrays.copyOf(made.array(), length);
    }

    /** The right answers, computed in another way: FNV by shifts. */
    private static Map<String, Long> sums(byte[] data) {
        long sum = 0, hash = new BigInteger("14695981039346656037").longValue();
        for (byte one : data) {
            sum += Byte.toUnsignedInt(one);
            hash ^= Byte.toUnsignedInt(one);
            hash += (hash << 1) + (hash << 4) + (hash << 5) + (hash << 7) + (hash << 8) + (hash << 40);
        }
        return Map.of("sum8", sum % 256, "fnv", hash, "none", (long) data.length);
    }

    private static long once(Bytes.Copy copy, String way, String mode, Source from) throws Exception {
        return copy.pass(way, mode).once(from, CHUNK) & (mode.equals("sum8") ? 0xff : -1);
    }

    static void all() throws IOException {
        Path folder = Files.createTempDirectory("bytes");
        try {
            all(folder);
        } finally {
            for (Path file : Files.list(folder).toList()) {
                Files.delete(file);
            }
            Files.delete(folder);
        }
    }

    private static Path written(Path folder, byte[] data) throws IOException {
        return Files.write(folder.resolve(data.length + ".bytes"), data);
    }

    private static void all(Path folder) {
        InterpTest.test("the content and its sums are the published ones", () -> {
            for (Truth truth : TRUTHS) {
                byte[] data = content(truth.length);
                String sha = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(data));
                same(truth.sha, sha.substring(0, 16), "SHA-256 of " + truth.length);
                same(Map.of("sum8", truth.sum8, "fnv", truth.fnv, "none", (long) truth.length), sums(data), "sums");
            }
        });
        InterpTest.test("every way gives the published sums and counts each byte", () -> {
            try (Server server = new Server(folder, CHUNK); Tool tool = new Tool(folder, server, "")) {
                for (Truth truth : TRUTHS) {
                    written(folder, content(truth.length));
                    for (Way way : ways()) {
                        for (String source : way.sources()) {
                            for (String mode : way.modes()) {
                                if (way.name.equals("FileInputStream/read") && truth.length > CHUNK && mode.equals("fnv")) {
                                    continue; // A second of calls has been made already.
                                }
                                published(tool, way.name, source, mode, truth);
                            }
                        }
                    }
                }
            }
        });
        InterpTest.test("lengths around a buffer", () -> {
            try (Server server = new Server(folder, CHUNK)) {
                for (int length : new int[] {0, 1, CHUNK - 1, CHUNK + 1}) {
                    byte[] data = content(length);
                    Path file = written(folder, data);
                    for (Way way : ways()) {
                        for (String source : way.sources()) {
                            Source from = Source.of(source, source.equals("file") ? file.toString() : server.at(file));
                            for (String mode : way.modes()) {
                                String what = way.name + " " + source + " " + mode + " " + length;
                                same(sums(data).get(mode), once(Bytes.TIMED, way.name, mode, from), what);
                            }
                        }
                    }
                }
            }
        });
        InterpTest.test("reads that give less than was asked for", () -> drips(folder));
        InterpTest.test("two swapped bytes are another fnv", () -> {
            byte[] data = content(CHUNK);
            Map<String, Long> right = sums(data);
            byte first = data[9];
            data[9] = data[10];
            data[10] = first;
            same(false, data[9] == data[10], "equal");
            Path file = written(folder, data);
            for (Way way : ways()) {
                for (String mode : way.modes()) {
                    if (way.file) {
                        long got = once(Bytes.TIMED, way.name, mode, Source.of("file", file.toString()));
                        same(!mode.equals("fnv"), got == right.get(mode), way.name + " " + mode);
                    }
                }
            }
        });
        InterpTest.test("a response that ends too early, or is none, is an error", () -> {
            try (Server server = new Server(folder, CHUNK)) {
                for (Way way : ways()) {
                    for (String path : way.http ? List.of("short", "none") : List.<String>of()) {
                        String said = failure(way, Source.of("http", server.at(Path.of(path))));
                        boolean right = !said.isEmpty() && (path.equals("short") || said.contains("/none answered 404"));
                        same(true, right, way.name + ": " + said);
                    }
                }
            }
        });
        InterpTest.test("a byte that was not looked at is found, and so is a variable that is not set", () -> {
            Path file = written(folder, content(4));
            try (Tool tool = new Tool(null, null, file.toString())) {
                Map<?, ?> said = tool.ask("half", 8, "file", "sum8", true);
                same("java.lang.IllegalStateException: 8 bytes were consumed, 16 were asked for", said.get("message"), "said");
                for (String source : List.of("file", "http")) {
                    String name = source.equals("file") ? "TASKSCALE_BYTES" : "TASKSCALE_BYTES_URL";
                    String message = (String) tool.ask("InputStream/for", 8, source, "sum8", false).get("message");
                    same(true, message.startsWith(name + " is not set: it names the "), message);
                }
            }
        });
    }

    private static void published(Tool tool, String way, String source, String mode, Truth truth) throws IOException {
        long right = mode.equals("fnv") ? truth.fnv : mode.equals("none") ? truth.length : truth.sum8;
        for (boolean verify : new boolean[] {false, true}) {
            Map<?, ?> sample = tool.ask(way, truth.length, source, mode, verify);
            String what = way + " " + source + " " + mode + " " + truth.length + ": " + sample;
            same(2 * right, sample.get("answer"), what);
            same(verify ? Map.of("executed", 2L * truth.length) : Map.of(), new TreeMap<>((Map<?, ?>) sample.get("extra")), what);
        }
    }

    /** What is thrown in a pass. */
    private static String failure(Way way, Source from) throws Exception {
        try {
            once(Bytes.TIMED, way.name, way.modes().get(0), from);
            return "";
        } catch (IOException failed) {
            return "failed: " + failed.getMessage();
        }
    }

    private static void drips(Path folder) throws Exception {
        byte[] data = content(CHUNK + 1);
        Class<?> drips = Bytes.TIMED.loadClass(Bytes.WAYS + "Drips");
        for (String mode : List.of("sum8", "fnv")) {
            long sum = (Long) drips.getMethod("sum", byte[].class, boolean.class).invoke(null, data, mode.equals("fnv"));
            same(sums(data).get(mode), mode.equals("fnv") ? sum : sum & 0xff, "AsynchronousFileChannel " + mode);
        }
        Path file = written(folder, data), pipe = folder.resolve("pipe");
        same(0, new ProcessBuilder("mkfifo", pipe.toString()).inheritIO().start().waitFor(), "mkfifo");
        try (Server server = new Server(folder, 5000)) {
            for (Way way : ways()) {
                for (String mode : way.modes()) {
                    if (way.http) {
                        long got = once(Bytes.TIMED, way.name, mode, Source.of("http", server.at(file)));
                        same(sums(data).get(mode), got, way.name + " http " + mode);
                    }
                    if (!way.file || !way.streams()) {
                        continue;
                    }
                    Thread writer = Threads.PLATFORM.start(() -> {
                        try (OutputStream out = Files.newOutputStream(pipe)) {
                            for (int at = 0; at < data.length; at += 5000) {
                                out.write(data, at, Math.min(5000, data.length - at));
                            }
                        } catch (IOException failed) {
                            throw new IllegalStateException(failed);
                        }
                    });
                    long got = once(Bytes.TIMED, way.name, mode, Source.of("file", pipe.toString()));
                    writer.join();
                    same(sums(data).get(mode), got, way.name + " file " + mode);
                }
            }
        }
    }

    private static void same(Object right, Object got, String what) { InterpTest.same(right, got, what); }

    /** Serves the files of a folder, so many bytes at a time. {@code short} ends a byte too early. */
    private static final class Server implements AutoCloseable {
        private final HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 128);
        private final ExecutorService threads = Executors.newCachedThreadPool();
        private final Path folder;
        private final int drip;

        Server(Path folder, int drip) throws IOException {
            this.folder = folder;
            this.drip = drip;
            server.setExecutor(threads);
            server.createContext("/", this::handle);
            server.start();
        }

        String at(Path file) { return url() + "/" + file.getFileName(); }

        String url() { return "http://127.0.0.1:" + server.getAddress().getPort(); }

        private void handle(HttpExchange exchange) throws IOException {
            String name = exchange.getRequestURI().getPath().substring(1);
            if (name.equals("short")) {
                exchange.sendResponseHeaders(200, 100);
                exchange.getResponseBody().write(new byte[99]);
                exchange.getResponseBody().flush();
                // Ends the connection: the server says that a byte is missing.
                throw new IOException("a byte is missing");
            }
            if (!Files.exists(folder.resolve(name))) {
                exchange.sendResponseHeaders(404, -1);
                exchange.close();
                return;
            }
            byte[] data = Files.readAllBytes(folder.resolve(name));
            exchange.sendResponseHeaders(200, data.length == 0 ? -1 : data.length);
            OutputStream body = exchange.getResponseBody();
            for (int at = 0; at < data.length; at += drip) {
                body.write(data, at, Math.min(drip, data.length - at));
                body.flush();
            }
            exchange.close();
        }

        @Override
        public void close() {
            server.stop(0);
            threads.shutdownNow();
        }
    }

    /** What the tool does: a probe, its lines, and replies. */
    private static final class Tool implements AutoCloseable {
        private final Process probe;

        Tool(Path folder, Server server, String half) throws IOException {
            String java = ProcessHandle.current().info().command().orElseThrow();
            ProcessBuilder made = new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"),
                    "taskscale.workloads.BytesTest", half).redirectError(ProcessBuilder.Redirect.INHERIT);
            made.environment().keySet().removeIf(name -> name.startsWith("TASKSCALE_BYTES"));
            if (folder != null) {
                made.environment().putAll(Map.of("TASKSCALE_BYTES", folder.toString(), "TASKSCALE_BYTES_URL", server.url()));
            }
            probe = made.start();
        }

        /** Two passes. */
        Map<?, ?> ask(String variant, long size, String source, String mode, boolean verify) throws IOException {
            var line = Json.object("type", "run", "id", 5L, "workload", "bytes", "variant", variant, "size", size, "iterations", 2L,
                    "seed", 1L, "params", Map.of("source", source, "mode", mode, "verify", verify));
            probe.outputWriter().append(Json.write(line)).append('\n').flush();
            return (Map<?, ?>) Json.read(probe.inputReader().readLine());
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
