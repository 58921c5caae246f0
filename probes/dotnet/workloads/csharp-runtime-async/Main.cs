using Taskscale;
using Taskscale.Workloads.CSharp.Interp;
using Taskscale.Workloads.Interp;

if (args is not [string runtime]) {
    Console.Error.WriteLine($"name one runtime, not \"{string.Join(" ", args)}\": csharp+runtime-async");
    return 2;
}
Workload.Declare(Ways.Lookups, Ways.All);
Probe.Serve(runtime, Environment.Version.ToString(), Environment.ProcessorCount);
return 0;
