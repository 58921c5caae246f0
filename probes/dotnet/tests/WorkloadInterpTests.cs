using System.Buffers;
using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;
using System.Text.Json;
using Taskscale;
using Taskscale.Workloads.CSharp.Interp;
using Taskscale.Workloads.Interp;

/// <summary>The workload <c>interp</c> in C#, and evaluators that are broken so as to be seen.</summary>
internal static class WorkloadInterpTests {
    internal const ulong Order = 2153812598003189471;
    private static readonly IEnumerable<Way> ways = Ways.All;

    /// <summary>A request of the protocol, for a workload that is declared for this one request.</summary>
    private static Run Asking(object more) {
        Workload.Declare(Ways.Lookups, ways);
        using var read = JsonDocument.Parse(JsonSerializer.Serialize(new {
            type = "run", id = 1, workload = "interp", variant = "sync", size = 3, iterations = 2, seed = 7, @params = more,
        }));
        return new Run(read.RootElement);
    }

    internal static Dictionary<string, object> Counted(Way way, long pause, string lookup = "by_name", long depth = 0, long workers = 0) {
        Run run = Asking(new { verify = true, pause, lookup, depth, workers });
        var asked = new Asked(Text.Program, lookup, pause switch { 6 => 15, 100 => 1, _ => 0 }, depth);
        Timing timing = Workload.Perform(run, way, asked, Text.Output(depth));
        Held.Equal(6, timing.Answer, way.Name);
        return timing.Extra;
    }

    private static void TheProgramAndItsOutputAreThoseOfAllLanguages() {
        string program = Text.Program.ReplaceLineEndings("");
        Held.Equal("2afafbdc1160a3a282ac3d064f285c2ca6ef0fef6967814b02e194e22d6b9028", Sha256(System.Text.Encoding.ASCII.GetBytes(program)));
        Held.Equal("812dce4f4fa16015bfb38a37fc7b6f7b34bc7d243fd9f95c65e71252f017b764", Sha256(Text.Output(0)));
    }

    private static string Sha256(byte[] bytes) => Convert.ToHexStringLower(System.Security.Cryptography.SHA256.HashData(bytes));

    /// <summary>Throws where a variant of any language counts what is wrong.</summary>
    internal static void IsRight(Way way, long pause, string lookup, long workers) {
        var extra = Counted(way, pause, lookup, workers: workers);
        foreach (var (name, right) in new (string, object)[] {
            ("nodes", 6 * 1804L), ("builtins", 6 * 603L), ("applications", 600L), ("extensions", 606L), ("deepest", 8L),
            ("order", Order), ("output", Counts.Fnv1a(Text.Output(0))), ("suspended", 6 * pause), ("consumed_twice", 0L),
        }) Held.Equal(right, extra[name], $"{way.Name} {pause} {lookup} {name}");
    }

    internal static void IsNested(Way way) {
        var extra = Counted(way, 0, depth: 50);
        Held.Equal((606L, 0L, 300L, 51L), ((long)extra["nodes"], (long)extra["builtins"], (long)extra["extensions"], (long)extra["deepest"]), way.Name);
    }

    private static void EveryVariantCountsWhatIsRight() {
        foreach (Way way in ways)
        foreach (var (pause, lookup, workers) in new[] { (0, "by_name", 0), (6, "by_name", 0), (100, "by_name", 2), (100, "prelinked", 0) }) {
            IsRight(way, pause, lookup, workers);
        }
    }

    private static void NestedLetsAreAsDeepAsAskedFor() {
        foreach (Way way in ways) IsNested(way);
    }

    private static void RequestsAreDividedAmongWorkersAsEvenlyAsCanBe() {
        foreach (Way way in ways) {
            Timing timing = Workload.Perform(Asking(new { workers = 2 }), way, new(Text.Program, "by_name", 0, 0), Text.Output(0));
            Held.Equal(6, timing.Answer, way.Name);
            Held.Equal("4 2", string.Join(" ", (long[])timing.Extra["worker_requests"]), way.Name);
            Held.True(((long[])timing.Extra["worker_wall_ns"]).All(ns => ns > 0), way.Name);
        }
    }

    private static void AnOutputThatIsWrongIsAnErrorThatSaysWhere() {
        try {
            Workload.Perform(Asking(new { }), Ways.All[0], new(Text.Program, "by_name", 0, 0), "[]"u8.ToArray());
        }
        catch (InvalidOperationException wrong) when (wrong.Message.StartsWith("a request's output differs from byte 1 on: \"\"1\",\"2\"")) {
            return;
        }
        throw new InvalidOperationException("nothing was found");
    }

    private static void APauseThatNobodyKnowsIsAnError() {
        JsonElement said = JsonSerializer.SerializeToElement(Server.Reply(
            """{"type":"run","id":1,"workload":"interp","variant":"sync","size":1,"iterations":1,"seed":1,"params":{"pause":7}}""", "mine", "1", 2));
        Held.Equal("pause is 7; give 0, 6 or 100", said.GetProperty("message").GetString());
    }

    /// <summary>Two elements at a time.</summary>
    private sealed class Hasty(Counting observe) : Tasks<Counting, Everywhere>(15, observe) {
        protected override async Task<Value> Map(Value[] arguments) {
            Mapped(arguments, out Value[] list, out Closure closure);
            var values = new Value[list.Length];
            for (int at = 0; at < list.Length; at += 2) {
                Task<Value> first = Apply(closure, list[at]), second = Apply(closure, list[at + 1]);
                (values[at], values[at + 1]) = (await first, await second);
                HasValue(list[at]);
                HasValue(list[at + 1]);
            }
            return List.Of(values);
        }
    }

    /// <summary>A pending value is dropped, and the value computed without it.</summary>
    private sealed class Careless(Counting observe) : ValueTasks<Counting, Everywhere>(15, observe) {
        protected override async ValueTask<Value> Map(Value[] arguments) {
            Mapped(arguments, out Value[] list, out Closure closure);
            var values = new Value[list.Length];
            for (int at = 0; at < list.Length; at++) {
                bool pends = Begins(list[at]);
                values[at] = await Eval(closure.Body, Applied(closure, list[at]));
                if (pends) _ = Eval(closure.Body, closure.Env);
                HasValue(list[at]);
            }
            return List.Of(values);
        }
    }

    /// <summary>A result that can be used once is used twice.</summary>
    private sealed class Greedy(Counting observe) : ValueTasks<Counting, Everywhere>(15, observe) {
        protected override async ValueTask<Value> Map(Value[] arguments) {
            Mapped(arguments, out Value[] list, out Closure closure);
            var values = new Value[list.Length];
            for (int at = 0; at < list.Length; at++) {
                Begins(list[at]);
                ValueTask<Value> value = Eval(closure.Body, Applied(closure, list[at]));
                if (at == 0) await value;
                values[at] = await value;
                HasValue(list[at]);
            }
            return List.Of(values);
        }
    }

    private sealed class Broken(Func<Counting, Func<Node, ValueTask<Value>>> machine) : Way {
        public override Request Make<TObserve>(Asked asked, TObserve observe) {
            var (program, evaluate) = (Node.Of(asked), machine((Counting)(object)observe));
            return async to => Value.Write(await evaluate(program), to);
        }
    }

    private static void TwoElementsAtATimeAreSeenInTheOrder() {
        var extra = Counted(new Broken(observe => node => new(new Hasty(observe).Eval(node, null))), 6);
        Held.True((ulong)extra["order"] != Order, "the order is the right one");
    }

    private static void APendingValueThatIsSwallowedIsSeen() {
        var extra = Counted(new Broken(observe => node => new Careless(observe).Eval(node, null)), 6);
        // The output is right all the same, which is why it is not enough to look at.
        Held.Equal((0L, 36L), ((long)extra["suspended"], (long)extra["consumed_twice"]));
    }

    private static void AResultThatIsUsedTwiceIsSeen() {
        var extra = Counted(new Broken(observe => node => new Greedy(observe).Eval(node, null)), 6);
        Held.Equal(6L, extra["consumed_twice"]);
    }

    /// <summary>What a program of text gives, in every encoding.</summary>
    private static IEnumerable<string> Outputs(string program) => ways.Select(way => {
        var output = new ArrayBufferWriter<byte>();
        way.Make(new Asked(program, "by_name", 1, 0), new Silent())(output).AsTask().GetAwaiter().GetResult();
        return System.Text.Encoding.UTF8.GetString(output.WrittenSpan);
    });

    private static void SemanticsAreTheSameInEveryEncoding() {
        foreach (var (program, right) in Semantics.Programs) {
            foreach (var (way, output) in ways.Zip(Outputs(program))) Held.Equal(right, output, $"{way.Name} {program}:");
        }
    }

    private static void TheRuntimeAndNotTheCompilerSuspendsTheMethods() {
        foreach (var (assembly, expected) in new[] { ("csharp-runtime-async", false), ("csharp", true) }) {
            using var file = File.OpenRead(Path.Combine(AppContext.BaseDirectory, "../..", assembly, "release", $"{assembly}.dll"));
            using var image = new PEReader(file);
            MetadataReader names = image.GetMetadataReader();
            string[] machines = [.. names.TypeDefinitions.Select(type => names.GetString(names.GetTypeDefinition(type).Name))
                .Where(name => name.Contains(">d__"))];
            Held.Equal(expected, machines.Length > 0, $"{assembly} has {string.Join(" ", machines)};");
        }
    }
}
