using System.Text.Json;
using Taskscale;

/// <summary>The SDK, line by line.</summary>
internal static class SdkTests {
    static SdkTests() {
        Probe.Param("own", "order", "ordered", "how", "ordered", "discard");
        Probe.Param("own", "work", 0L, "how much");
        Probe.Variant("own", "sum", run => run.Time(phases => {
            phases.Created();
            return run.Size + run.Integer("work") + (run.Word("order") == "discard" ? 1_000 : 0);
        }));
        Probe.Variant("own", "discards", run => run.Time(_ => run.Word("order").Length)).Only("order", "discard").CreatesTask(false);
        Probe.VariantAsync("own", "pooled", run => run.TimeAsync(_ => Task.FromResult(Thread.CurrentThread.IsThreadPoolThread ? 1L : 0L)));
        Probe.Variant("own", "plain", run => run.Time(_ => Thread.CurrentThread.IsThreadPoolThread ? 1 : 0));
        Probe.Variant("own", "fails", run => run.Time(_ => throw new IOException("the disk is full")));
        Probe.Variant("own", "wraps", run => run.Time(_ => -1));
        Probe.Variant("own", "set_up", run => {
            long made = 0, ended = 0;
            long Make() {
                Thread.Sleep(3);
                return made += 10;
            }
            Timing timing = run.TimeEach(Make, (_, made) => made, made => ended += made);
            timing.Extra["ended"] = ended;
            return timing;
        });
    }

    private static JsonElement Said(string line) =>
        JsonSerializer.SerializeToElement(Server.Reply(line, "mine", "1.5", 2) ?? throw new InvalidOperationException("no reply"));

    private static JsonElement Ran(string variant, string more = "") => Said(
        $$"""{"type":"run","id":7,"workload":"own","variant":"{{variant}}","size":10,"iterations":3,"seed":1{{more}}}""");

    private static void AParameterThatIsAbsentHasItsDefault() {
        Held.Equal(30, Ran("sum").GetProperty("answer").GetInt32());
        Held.Equal(3_036, Ran("sum", ""","params":{"order":"discard","work":2}""").GetProperty("answer").GetInt32());
    }

    private static void OrTheFirstValueThatTheVariantAllows() =>
        Held.Equal(3 * "discard".Length, Ran("discards").GetProperty("answer").GetInt32());

    private static void AnAsyncVariantBeginsInThePoolAndNoOther() {
        Held.Equal(3, Ran("pooled").GetProperty("answer").GetInt32());
        Held.Equal(0, Ran("plain").GetProperty("answer").GetInt32());
    }

    private static void ASampleHasTheIdAndBothTimes() {
        JsonElement sample = Ran("sum");
        Held.Equal(7, sample.GetProperty("id").GetInt32());
        Held.True(sample.GetProperty("wall_ns").GetInt64() > 0 && sample.GetProperty("cpu_ns").GetInt64() >= 0, $"{sample}");
        Held.True(!sample.GetProperty("extra").TryGetProperty("create_wall_ns", out _), "phases that nobody asked for");
        Held.True(Ran("sum", ""","params":{"phases":true}""").GetProperty("extra").TryGetProperty("create_wall_ns", out _), "no phases");
    }

    private static void WhatIsSetUpUntimedIsMadeAnewAndToldBeside() {
        JsonElement sample = Ran("set_up"), extra = sample.GetProperty("extra");
        Held.Equal(60, sample.GetProperty("answer").GetInt32());
        Held.Equal(60, extra.GetProperty("ended").GetInt32());
        Held.True(extra.GetProperty("setup_wall_ns").GetInt64() >= 9_000_000, $"{sample}");
    }

    private static void AnswersAreUnsigned() =>
        Held.Equal(ulong.MaxValue - 2, Ran("wraps").GetProperty("answer").GetUInt64());

    private static void MistakesAreErrorsThatSayWhatThereIs() {
        foreach (var (line, words) in new[] {
            ("hello", "'h' is an invalid start"),
            ("", "does not contain any JSON"),
            ("[]", "not a JSON object"),
            ("""{"type":"sing"}""", "unknown request type \"sing\"; known here: describe run exit"),
            ("""{"type":"describe","protocol":2}""", "the tool speaks protocol 2, this probe of mine speaks protocol 1"),
            ("""{"type":"run","workload":"theirs"}""", "unknown workload \"theirs\"; known here: own"),
            ("""{"type":"run","workload":"own","variant":"x"}""", "unknown variant \"x\"; known here: sum"),
        }) {
            JsonElement said = Said(line);
            Held.Equal("error", said.GetProperty("type").GetString(), line);
            Held.True(said.GetProperty("message").GetString()!.Contains(words), $"{line}: {said}");
        }
        Held.True(Ran("fails").GetProperty("message").GetString()!.Contains("the disk is full"), "another failure");
        Held.Equal(null, Server.Reply("""{"type":"exit"}""", "mine", "1.5", 2));
    }

    private static void ADescriptionSaysWhatTheFiguresDependOn() {
        JsonElement said = Said("""{"type":"describe","protocol":1}"""), runtime = said.GetProperty("runtime");
        string toolchain = runtime.GetProperty("toolchain").GetString()!;
        Held.True(toolchain.Contains("workstation GC, concurrent") && toolchain.Contains("ReadyToRun on"), toolchain);
        Held.True(said.GetProperty("jit").GetBoolean(), "no jit");
        JsonElement own = said.GetProperty("workloads")[0], discards = own.GetProperty("variants")[1];
        Held.Equal("[\"discard\"]", discards.GetProperty("only").GetProperty("order").GetRawText());
        Held.True(!discards.GetProperty("creates_task").GetBoolean(), "a task");
        Held.True(said.GetProperty("clock").GetProperty("cpu_resolution_ns").GetInt64() > 0, "no resolution");
    }
}
