using System.Text;

namespace Taskscale.Workloads.Interp;

/// <summary>What an instrumented loop of requests counts. What suspends goes on in another thread.</summary>
public sealed class Counts {
    private readonly StringBuilder log = new();
    private long nodes, live, deepest, builtins, applications, extensions, suspended, made, taken, again;
    private ulong output;

    /// <summary>A request begins: the log is that of the last one.</summary>
    internal void Request() {
        lock (log) log.Clear();
    }

    internal void Enter() {
        Interlocked.Increment(ref nodes);
        long now = Interlocked.Increment(ref live);
        for (long most = Volatile.Read(ref deepest); now > most; most = Volatile.Read(ref deepest)) {
            Interlocked.CompareExchange(ref deepest, now, most);
        }
    }

    internal void Leave() => Interlocked.Decrement(ref live);
    internal void Builtin() => Interlocked.Increment(ref builtins);
    internal void Extension() => Interlocked.Increment(ref extensions);
    internal void Suspended() => Interlocked.Increment(ref suspended);
    internal void Made() => Interlocked.Increment(ref made);
    internal void Taken() => Interlocked.Increment(ref taken);
    internal void TakenAgain() => Interlocked.Increment(ref again);

    internal void Begins(long element) {
        Interlocked.Increment(ref applications);
        Log('B', element);
    }

    internal void HasValue(long element) => Log('E', element);

    private void Log(char what, long element) {
        lock (log) log.Append(what).Append(' ').Append(element).Append('\n');
    }

    /// <summary>The output of the last request.</summary>
    internal void Output(ReadOnlySpan<byte> bytes) => output = Fnv1a(bytes);

    /// <summary>Adds up what several loops counted, under the names of the protocol.</summary>
    internal static void Report(IReadOnlyList<Counts> all, Dictionary<string, object> extra) {
        // A worker beyond the number of requests had none.
        Counts last = all.LastOrDefault(one => one.nodes > 0) ?? all[^1];
        long Sum(Func<Counts, long> of) => all.Sum(of);
        extra["nodes"] = Sum(one => one.nodes);
        extra["builtins"] = Sum(one => one.builtins);
        extra["applications"] = Sum(one => one.applications);
        extra["extensions"] = Sum(one => one.extensions);
        extra["deepest"] = all.Max(one => one.deepest);
        extra["order"] = Fnv1a(Encoding.ASCII.GetBytes(last.log.ToString()));
        extra["output"] = last.output;
        extra["suspended"] = Sum(one => one.suspended);
        // Those that were never used, and uses beyond the first.
        extra["consumed_twice"] = Sum(one => Math.Abs(one.made - one.taken) + one.again);
    }

    /// <summary>FNV-1a with 64 bits.</summary>
    public static ulong Fnv1a(ReadOnlySpan<byte> bytes) {
        ulong hash = 0xcbf29ce484222325;
        foreach (byte one in bytes) hash = (hash ^ one) * 0x00000100000001b3;
        return hash;
    }
}
