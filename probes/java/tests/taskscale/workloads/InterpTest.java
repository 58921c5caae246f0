package taskscale.workloads;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import taskscale.sdk.Run;
import taskscale.sdk.Timing;
import taskscale.workloads.interp.Mistakes;

/**
 * {@code interp}: its semantics in every encoding, what an instrumented run counts, and mistakes that it must show. What
 * is right is written here a second time; the tool has it a third time, and judges by that.
 */
final class InterpTest {
    private static final List<String> ENCODINGS = here(List.of("Sync", "Async", "AsyncCached", "Task", "Union"), "Green");

    interface Test { void run() throws Exception; }

    private static int failures;

    static void test(String name, Test test) {
        try {
            test.run();
            System.out.println("ok: " + name);
        } catch (Throwable failed) {
            failures++;
            System.out.println("FAILED: " + name + ": " + failed);
        }
    }

    /** Names, and those of what needs virtual threads where this JDK has them. */
    static List<String> here(List<String> all, String... virtual) {
        return Virtual.THREADS == null ? all : Stream.concat(all.stream(), Stream.of(virtual)).toList();
    }

    /** The kinds of threads that this JDK has. */
    static List<Threads> kinds() {
        return Virtual.THREADS == null ? List.of(Threads.PLATFORM) : List.of(Threads.PLATFORM, Virtual.THREADS);
    }

    static void same(Object right, Object got, String what) {
        if (!Objects.equals(right, got)) {
            throw new AssertionError(what + ": " + got + ", right is " + right);
        }
    }

    private static String sha256(byte[] text) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text));
    }

    /** What six requests count. */
    static Map<String, Object> right(long pause) {
        return new TreeMap<>(Map.of("nodes", 6 * 1804L, "builtins", 6 * 603L, "applications", 600L, "extensions", 606L,
                "deepest", 8L, "order", "2153812598003189471", "output", "5476290587449551085",
                "suspended", 6 * pause, "consumed_twice", 0L));
    }

    /** Three requests twice, as a line of JSON would ask for them. */
    private static Run request(boolean verify, Map<String, Object> params) throws Exception {
        Map<String, Object> all = new TreeMap<>(params);
        all.put("verify", verify);
        var made = Run.class.getDeclaredConstructor(Map.class);
        made.setAccessible(true);
        return made.newInstance(Map.of("workload", "interp", "variant", "sync", "id", 1L, "size", 3L, "iterations", 2L,
                "seed", 1L, "params", all));
    }

    private static Map<String, Object> counted(String encoding, boolean verify, Map<String, Object> params) throws Exception {
        Run run = request(verify, params);
        Timing timing = Interp.perform(run, encoding);
        same(6L, timing.answer(), encoding + " " + params);
        return new TreeMap<>(timing.extra());
    }

    /** In what the counts of an encoding with a mistake differ from the right ones. */
    private static Map<String, Object> differing(String encoding) throws Exception {
        Map<String, Object> got = counted(encoding, true, Map.of("pause", 6L));
        got.entrySet().removeIf(one -> one.getValue().equals(right(6).get(one.getKey())));
        return got;
    }

    public static void main(String[] args) throws Exception {
        Interp.declare();
        test("the program and its output are those of all languages", () -> {
            byte[] program = Mistakes.program().getBytes(StandardCharsets.UTF_8);
            same("2afafbdc1160a3a282ac3d064f285c2ca6ef0fef6967814b02e194e22d6b9028", sha256(program), "program");
            same("812dce4f4fa16015bfb38a37fc7b6f7b34bc7d243fd9f95c65e71252f017b764", sha256(Interp.output()), "output");
            Path shared = Path.of(args[0]);
            // Taken out of the repository there is no other program to agree with.
            if (Files.exists(shared)) {
                same(Files.readString(shared).strip(), Mistakes.program(), "program.json");
            }
        });
        test("every encoding counts what is right", () -> {
            for (String encoding : ENCODINGS) {
                for (long pause : new long[] {0, 6, 100}) {
                    for (String lookup : List.of("by_name", "prelinked")) {
                        Map<String, Object> params = Map.of("pause", pause, "lookup", lookup);
                        same(right(pause), counted(encoding, true, params), encoding + " " + params);
                        same(Map.of(), counted(encoding, false, params), encoding + " " + params + ", timed");
                    }
                }
            }
        });
        test("requests are divided among workers", () -> {
            for (String encoding : ENCODINGS) {
                Map<String, Object> got = counted(encoding, true, Map.of("pause", 6L, "workers", 2L));
                same(List.of(4L, 2L), got.remove("worker_requests"), encoding);
                same(2, ((List<?>) got.remove("worker_wall_ns")).size(), encoding);
                same(right(6), got, encoding);
            }
            same(List.of(2L, 2L, 2L, 0L, 0L), counted("Sync", true, Map.of("workers", 5L)).get("worker_requests"), "five");
        });
        test("nested lets are as deep as asked for", () -> {
            for (String encoding : ENCODINGS) {
                Map<String, Object> right = new TreeMap<>(right(0));
                right.putAll(Map.of("nodes", 606L, "builtins", 0L, "applications", 0L, "extensions", 300L, "deepest", 51L,
                        "order", "14695981039346656037", "output", "12638134423997487868"));
                same(right, counted(encoding, true, Map.of("depth", 50L)), encoding);
            }
        });
        test("other numbers of pauses and too many workers are refused", () -> {
            for (Map<String, Object> params : List.<Map<String, Object>>of(Map.of("pause", 7L), Map.of("workers", 1001L))) {
                try {
                    counted("Sync", true, params);
                    throw new AssertionError(params + " were taken");
                } catch (IllegalArgumentException said) {
                    same(true, said.getMessage().contains("; give "), said.getMessage());
                }
            }
        });
        test("semantics are the same in every encoding", InterpTest::semantics);
        test("two elements at a time are seen in the order", () ->
                same(true, differing("Mistakes$TwoAtATime").containsKey("order"), "" + differing("Mistakes$TwoAtATime")));
        test("a swallowed pending value is seen", () -> {
            Map<String, Object> got = differing("Mistakes$Swallowed");
            same(0L, got.get("suspended"), "suspended");
            same(true, (Long) got.get("consumed_twice") > 0, "" + got);
        });
        test("a result that is used twice is seen", () ->
                same(Map.of("consumed_twice", 6L), differing("Mistakes$UsedTwice"), "differing"));
        test("a wrong output says where", () -> same(
                "a request's output differs from byte 3 on: \"2,3]\", right is \"3]\" (7 bytes, right are 5)",
                Interp.difference("[1,2,3]".getBytes(), "[1,3]".getBytes()), "said"));
        // First, since the JDK's client reads once which headers may be set.
        BytesTest.all();
        HttpTest.all();
        ParkedTest.all();
        BlockingTest.all();
        CancelTest.all();
        PingpongTest.all();
        RemoteTest.all();
        ContextTest.all();
        IdleTest.all();
        ScaleTest.all();
        VirtualTest.all();
        Nop.declare("java");
        TimingTest.all();
        CollectorTest.all();
        System.exit(failures == 0 ? 0 : 1);
    }

    private static void semantics() throws Exception {
        String each = "[\"call\",\"List::map\",[[\"call\",\"Int::range\",[[\"int\",1],[\"int\",3]]],[\"lambda\",[\"i\"],%s]]]";
        String ones = each.formatted("[\"int\",1]"), no = "a request's output is no value: ";
        String[] cases = {
            "[\"bin\",\"Int::%%\",[\"int\",7],[\"int\",0]]", "0",
            "[\"var\",\"a\"]", no + "no variable a",
            "[\"call\",\"Int::none\",[]]", no + "no function Int::none",
            // The error of an argument is the call's, whether the function is there or not.
            "[\"call\",\"Int::none\",[[\"var\",\"a\"]]]", no + "no variable a",
            "[\"if\",[\"int\",1],[\"int\",2],[\"int\",3]]", no + "a condition must be a boolean",
            "[\"lambda\",[\"i\"],[\"int\",1]]", no + "a lambda",
            // A binding alters no environment: the inner `a` is gone behind its body.
            "[\"let\",\"a\",[\"int\",1],[\"let\",\"b\",[\"let\",\"a\",[\"int\",2],[\"var\",\"a\"]],[\"var\",\"a\"]]]", "1",
            // A lambda has the environment in which it was written.
            "[\"let\",\"a\",[\"int\",5],[\"let\",\"f\",[\"lambda\",[\"i\"],[\"var\",\"a\"]],[\"let\",\"a\",[\"int\",6],"
                    + "[\"call\",\"List::map\",[[\"call\",\"Int::range\",[[\"int\",1],[\"int\",2]]],[\"var\",\"f\"]]]]]]", "[5,5]",
            each.formatted("[\"var\",\"i\"]"), "[1,2,3]",
            // The first error of a list is the map's.
            each.formatted("[\"if\",[\"bin\",\"Int::==\",[\"var\",\"i\"],[\"int\",1]],[\"int\",0],[\"var\",\"c\"]]"), no + "no variable c",
            each.formatted(each.formatted("[\"bin\",\"Int::%%\",[\"var\",\"i\"],[\"int\",2]]")), "[[1,0,1],[1,0,1],[1,0,1]]",
            "[\"bin\",\"Int::%%\",[\"var\",\"a\"],[\"int\",1]]", no + "no variable a",
            "[\"bin\",\"Int::%%\",[\"int\",1],[\"var\",\"a\"]]", no + "no variable a",
            // What suspends may stand in every place.
            "[\"let\",\"a\"," + ones + ",[\"var\",\"a\"]]", "[1,1,1]",
            "[\"let\",\"a\"," + ones + "," + each.formatted("[\"var\",\"a\"]") + "]", "[[1,1,1],[1,1,1],[1,1,1]]",
            "[\"call\",\"List::map\",[" + ones + ",[\"lambda\",[\"i\"],[\"int\",2]]]]", "[2,2,2]",
            "[\"bin\",\"Int::%%\"," + ones + ",[\"int\",2]]", no + "Int::% needs two integers",
            "[\"bin\",\"Int::%%\",[\"int\",2]," + ones + "]", no + "Int::% needs two integers",
            "[\"if\"," + ones + ",[\"int\",1],[\"int\",2]]", no + "a condition must be a boolean",
        };
        var output = Interp.TIMED.loadClass(Interp.ENCODINGS + "Mistakes").getMethod("output", String.class, String.class);
        for (String encoding : ENCODINGS) {
            for (int at = 0; at < cases.length; at += 2) {
                same(cases[at + 1], output.invoke(null, encoding, cases[at].replace("%%", "%")), encoding + " " + cases[at]);
            }
        }
    }
}
