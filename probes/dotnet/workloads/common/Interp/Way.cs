using System.Buffers;

namespace Taskscale.Workloads.Interp;

/// <summary>
/// What is to be evaluated: the text, or nested lets where <paramref name="Depth"/> is above 0. Elements that
/// <paramref name="Every"/> divides suspend; none where it is 0.
/// </summary>
public sealed record Asked(string Text, string Lookup, long Every, long Depth);

/// <summary>Answers a request: evaluates the program and writes the result.</summary>
public delegate ValueTask Request(IBufferWriter<byte> to);

/// <summary>A way of writing the interpreter.</summary>
public abstract class Way {
    /// <summary>The name of the variant.</summary>
    public string Name { get; init; } = "";
    public string Note { get; init; } = "";
    /// <summary>Why it cannot be had, and what would help.</summary>
    public (string Reason, string Remedy)? Missing { get; init; }

    /// <summary>Makes tree and evaluator.</summary>
    public abstract Request Make<TObserve>(Asked asked, TObserve observe)
        where TObserve : struct, IObserve;
}
