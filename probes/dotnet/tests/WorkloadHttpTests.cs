using System.Buffers;
using System.Diagnostics;
using System.Net;
using System.Reflection;
using System.Runtime.Loader;
using System.Text.Json;
using Taskscale;
using Taskscale.Workloads.Interp;
using OfCSharp = Taskscale.Workloads.CSharp.Interp.Ways;
using OfFSharp = Taskscale.Workloads.FSharp.Interp.Ways;

/// <summary>The server of <c>interp</c>. Each test starts this program as a probe, since a server needs the tool's lines.</summary>
internal static class WorkloadHttpTests {
    private static readonly HttpClient client = new();
    private static readonly string right = System.Text.Encoding.UTF8.GetString(Text.Output(0));

    private static readonly (string Language, Way[] Ways)[] languages =
        [("csharp", OfCSharp.All), ("fsharp", [.. OfFSharp.all.Where(way => way.Missing is null)])];

    /// <summary>Serves as a probe of a language, with a way more, whose output is wrong.</summary>
    internal static void Serve(string language) {
        Workload.Declare(OfCSharp.Lookups, [.. languages.Single(one => one.Language == language).Ways, new Wrong { Name = "wrong" }]);
        Probe.Serve(language, "test");
    }

    private sealed class Wrong : Way {
        public override Request Make<TObserve>(Asked asked, TObserve observe) => to => {
            to.Write("[1]"u8);
            return default;
        };
    }

    private static void AServerAnswersTheRightBytesAndCountsThemSinceBegin() {
        foreach (var (language, ways) in languages) {
            using var tool = new Tool(language);
            foreach (string variant in ways.Select(way => way.Name).Append("constant"))
            foreach (bool verify in new[] { false, true }) {
                Uri server = tool.Serving(variant, new { mode = "http-open", pause = 6, verify });
                Held.Equal("error", Word(tool.Ask("describe"), "type"), "a description");
                // It comes before begin, and is no part of the answer.
                if (!verify) Get(server);
                Held.Equal("began", Word(tool.Ask("begin"), "type"));
                for (int done = 0; done < 3; done++) Get(server);
                JsonElement sample = tool.Ask("stop"), extra = sample.GetProperty("extra");
                Held.Equal((3, 5), (sample.GetProperty("answer").GetInt32(), sample.GetProperty("id").GetInt32()), variant);
                Held.True(sample.GetProperty("cpu_ns").GetInt64() > 0, $"{variant}: {sample}");
                bool counts = verify && variant != "constant";
                Held.Equal(counts, extra.TryGetProperty("nodes", out _), $"{variant}: {extra}");
                if (counts) Counts(extra, variant);
            }
        }
    }

    private static void Counts(JsonElement extra, string variant) {
        foreach (var (name, expected) in new (string, ulong)[] {
            ("nodes", 3 * 1804), ("builtins", 3 * 603), ("applications", 300), ("extensions", 303), ("deepest", 8),
            ("order", WorkloadInterpTests.Order), ("suspended", 18), ("consumed_twice", 0),
        }) Held.Equal(expected, extra.GetProperty(name).GetUInt64(), $"{variant} {name}");
    }

    private static void RequestsOnManyConnectionsAreAnsweredWhileOthersSuspend() {
        foreach (var (language, ways) in languages) {
            using var tool = new Tool(language);
            foreach (string variant in ways.Select(way => way.Name).Append("constant")) {
                Uri server = tool.Serving(variant, new { mode = "http-closed", pause = 100 });
                tool.Ask("begin");
                string[] all = Task.WhenAll(Enumerable.Range(0, 40).Select(_ => client.GetStringAsync(server))).GetAwaiter().GetResult();
                Held.True(all.All(body => body == right), $"{language} {variant}");
                Held.Equal(40, tool.Ask("stop").GetProperty("answer").GetInt32(), variant);
            }
        }
    }

    private static void AnOutputThatIsWrongIsToldInTheResponseAndIsNoSample() {
        using var tool = new Tool("csharp");
        Uri server = tool.Serving("wrong", new { mode = "http-open" });
        tool.Ask("begin");
        using HttpResponseMessage response = client.GetAsync(server).GetAwaiter().GetResult();
        Held.Equal(HttpStatusCode.InternalServerError, response.StatusCode);
        JsonElement sample = tool.Ask("stop");
        Held.Equal("error", Word(sample, "type"), $"{sample}");
        foreach (string said in new[] { response.Content.ReadAsStringAsync().GetAwaiter().GetResult(), Word(sample, "message") }) {
            Held.True(said.Contains("a request's output differs from byte 1 on: \"1]\""), said);
        }
    }

    private static void WithoutAspNetCoreTheModesSayWhatWouldHelp() {
        // It is built a second time so (tests/run/dotnet-probe).
        string path = Path.GetFullPath(Path.Combine(AppContext.BaseDirectory, "../../../without/bin/Common/release/Common.dll"));
        Assembly without = new AssemblyLoadContext("without").LoadFromAssemblyPath(path);
        Held.True(!without.GetReferencedAssemblies().Any(one => one.Name!.StartsWith("Microsoft.AspNetCore")), "it refers to it");
        var missing = ((string Reason, string Remedy)?)without.GetType("Taskscale.Workloads.Interp.Kestrel")!
            .GetField("Missing", BindingFlags.Static | BindingFlags.NonPublic)!.GetValue(null);
        Workload.Declare(OfCSharp.Lookups, OfCSharp.All, missing);
        JsonElement interp = JsonSerializer.SerializeToElement(Probe.Description("mine", "1", 2)).GetProperty("workloads")
            .EnumerateArray().Single(one => Word(one, "name") == "interp");
        JsonElement mode = interp.GetProperty("params").EnumerateArray().Single(one => Word(one, "name") == "mode");
        Held.Equal("[\"inproc\"]", mode.GetProperty("choices").GetRawText());
        JsonElement constant = interp.GetProperty("variants").EnumerateArray().Single(one => Word(one, "name") == "constant");
        foreach (JsonElement said in new[] {
            mode.GetProperty("unavailable").GetProperty("http-closed"), mode.GetProperty("unavailable").GetProperty("http-open"),
            constant.GetProperty("unavailable"),
        }) {
            Held.True(Word(said, "reason").Contains("ASP.NET Core") && Word(said, "remedy").Contains("install"), $"{said}");
        }
    }

    private static string Word(JsonElement of, string name) => of.GetProperty(name).GetString()!;

    private static void Get(Uri server) {
        using HttpResponseMessage response = client.GetAsync(server).GetAwaiter().GetResult();
        Held.Equal((HttpStatusCode.OK, 614), (response.StatusCode, response.Content.Headers.ContentLength));
        Held.Equal(right, response.Content.ReadAsStringAsync().GetAwaiter().GetResult());
    }

    /// <summary>What the tool does: a probe, its lines, and replies.</summary>
    private sealed class Tool : IDisposable {
        private readonly Process probe;

        internal Tool(string language) {
            if (Kestrel.Missing is var (reason, remedy)) throw new Skipped($"{reason} ({remedy})");
            string[] words = [Assembly.GetExecutingAssembly().Location, "probe", language];
            probe = Process.Start(new ProcessStartInfo(Environment.ProcessPath!, words) {
                RedirectStandardInput = true,
                RedirectStandardOutput = true,
            })!;
        }

        internal Uri Serving(string variant, object more) {
            JsonElement said = Ask(new {
                type = "run", id = 5, workload = "interp", variant, size = 3, iterations = 1, seed = 1, @params = more,
            });
            Held.True(Word(said, "type") == "serving" && Word(said, "server").StartsWith($"Kestrel {Environment.Version.Major}."), $"{said}");
            return new($"http://127.0.0.1:{said.GetProperty("port")}/");
        }

        internal JsonElement Ask(string type) => Ask(new { type, id = 5 });

        private JsonElement Ask(object line) {
            probe.StandardInput.WriteLine(JsonSerializer.Serialize(line));
            using var said = JsonDocument.Parse(probe.StandardOutput.ReadLine() ?? throw new EndOfStreamException("the probe ended"));
            return said.RootElement.Clone();
        }

        /// <summary>The probe ends where its input does.</summary>
        public void Dispose() {
            using (probe) {
                probe.StandardInput.Close();
                probe.WaitForExit();
                Held.Equal(0, probe.ExitCode, "exit status");
            }
        }
    }
}
