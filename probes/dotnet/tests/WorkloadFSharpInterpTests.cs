using System.Buffers;
using Microsoft.FSharp.Core;
using Taskscale.Workloads.FSharp.Interp;
using Taskscale.Workloads.Interp;
using Value = Taskscale.Workloads.FSharp.Interp.Values.Value;
using Env = Taskscale.Workloads.FSharp.Interp.Values.Env;

/// <summary>The workload <c>interp</c> in F#, and evaluators that are broken so as to be seen.</summary>
internal static class WorkloadFSharpInterpTests {
    private static readonly Way[] ways = [.. Ways.all.Where(way => way.Missing is null)];

    private static void EveryVariantCountsWhatIsRight() {
        foreach (Way way in ways)
        foreach (var (pause, lookup, workers) in new[] { (0, "by_name", 0), (6, "article", 0), (100, "by_name", 2), (100, "prelinked", 0) }) {
            WorkloadInterpTests.IsRight(way, pause, lookup, workers);
        }
    }

    private static void NestedLetsAreAsDeepAsAskedFor() {
        foreach (Way way in ways) WorkloadInterpTests.IsNested(way);
    }

    private static void SemanticsAreTheSameInEveryEncodingAndLookup() {
        foreach (var (program, right) in Semantics.Programs)
        foreach (Way way in ways)
        foreach (string lookup in Ways.lookups) {
            var output = new ArrayBufferWriter<byte>();
            way.Make(new Asked(program, lookup, 1, 0), new Silent())(output).AsTask().GetAwaiter().GetResult();
            Held.Equal(right, System.Text.Encoding.UTF8.GetString(output.WrittenSpan), $"{way.Name} {lookup} {program}:");
        }
    }

    private static void WhatNeedsPlySaysHowToGetIt() {
        var missing = Ways.all.Where(way => way.Missing is not null).ToArray();
        Held.Equal(8, missing.Length);
        Held.True(missing.All(way => way.Missing!.Value.Remedy.Contains("taskscale setup fsharp")), "no remedy");
    }

    /// <summary>The elements of the list, and what evaluates the body for one.</summary>
    private static (Value[] Elements, Func<Value, T> Apply) Of<T>(Value[] arguments, Func<Value, Env, string, Values.Node, T> apply) {
        var (elements, by) = (((Value.List)arguments[0]).Item, (Value.Closure)arguments[1]);
        return (elements, element => apply(element, by.Item1, by.Item2[0], by.Item3));
    }

    /// <summary>Two elements at a time.</summary>
    private sealed class Hasty(Counting observe) : NativeTask.Evaluator<Counting>(15, observe, false) {
        public override async Task<Value> Map(Value[] arguments) {
            var (elements, apply) = Of(arguments, Apply);
            var values = new Value[elements.Length];
            for (int at = 0; at < elements.Length; at += 2) {
                Task<Value> first = apply(elements[at]), second = apply(elements[at + 1]);
                (values[at], values[at + 1]) = (await first, await second);
                HasValue(elements[at]);
                HasValue(elements[at + 1]);
            }
            return Values.listed(values);
        }
    }

    /// <summary>A pending value is dropped, and the value computed without it.</summary>
    private sealed class Careless(Counting observe) : HiddenChain.Evaluator<Counting>(15, observe) {
        public override Value Map(Value[] arguments) {
            var (elements, apply) = Of(arguments, Apply);
            var (_, again) = Of(arguments, (element, env, name, body) => Eval(body, Bind(env, name, element)));
            return Values.listed([.. elements.Select(element => {
                Value value = apply(element) is { IsPending: false } there ? there : again(element);
                HasValue(element);
                return value;
            })]);
        }
    }

    /// <summary>A result that can be used once is used twice.</summary>
    private sealed class Greedy(Counting observe) : OwnValueTaskBlocks.Evaluator<Counting>(15, observe, false) {
        public override async ValueTask<Value> Map(Value[] arguments) {
            var (elements, _) = Of(arguments, Apply);
            var (_, evaluate) = Of(arguments, (element, env, name, body) => Eval(body, Bind(env, name, element)));
            var values = new Value[elements.Length];
            for (int at = 0; at < elements.Length; at++) {
                Begins(elements[at]);
                ValueTask<Value> value = evaluate(elements[at]);
                if (at == 0) await value;
                values[at] = await value;
                HasValue(elements[at]);
            }
            return Values.listed(values);
        }
    }

    private sealed class Broken(Func<Counting, Func<Values.Node, ValueTask<Value>>> machine) : Way {
        public override Request Make<TObserve>(Asked asked, TObserve observe) {
            var evaluate = machine((Counting)(object)observe);
            return Requests.request(asked, FuncConvert.FromFunc(evaluate));
        }
    }

    private static void TwoElementsAtATimeAreSeenInTheOrder() {
        var extra = WorkloadInterpTests.Counted(new Broken(observe => node => new(new Hasty(observe).Eval(node, Env.Empty))), 6);
        Held.True((ulong)extra["order"] != WorkloadInterpTests.Order, "the order is the right one");
    }

    private static void APendingValueThatIsSwallowedIsSeen() {
        var extra = WorkloadInterpTests.Counted(new Broken(observe => node => new(new Careless(observe).Eval(node, Env.Empty))), 6);
        Held.Equal(36L, extra["consumed_twice"]);
    }

    private static void AResultThatIsUsedTwiceIsSeen() {
        var extra = WorkloadInterpTests.Counted(new Broken(observe => node => new Greedy(observe).Eval(node, Env.Empty)), 6);
        Held.Equal(6L, extra["consumed_twice"]);
    }
}
