namespace Taskscale.Workloads.Interp;

/// <summary>Stands for Kestrel where the SDK lacks ASP.NET Core.</summary>
internal sealed class Kestrel : IDisposable {
    internal static readonly (string Reason, string Remedy)? Missing =
        ("the probe was built without ASP.NET Core, whose Kestrel serves", "install ASP.NET Core of this SDK's version (packages aspnetcore-runtime and aspnetcore-targeting-pack, or an SDK from dot.net), then taskscale setup");
    internal const string Name = "";
    internal int Port => 0;
    internal static Kestrel Start(byte[] right, Func<ValueTask<string?>> answer) => throw new NotSupportedException(Missing!.Value.Reason);
    public void Dispose() { }
}
