using Taskscale;
using Taskscale.Workloads;
using Taskscale.Workloads.CSharp;
using Taskscale.Workloads.CSharp.Forms;
using Taskscale.Workloads.CSharp.Interp;

if (args is not [string runtime]) {
    Console.Error.WriteLine($"name one runtime, not \"{string.Join(" ", args)}\": csharp or csharp+server-gc");
    return 2;
}
Fanout.Declare(All.Forms);
Nop.Declare(All.Forms);
Spin.Declare();
Drain.Declare();
Parked.Declare("Task.Run", new Waits());
Cancel.Declare();
Pingpong.Declare();
Remote.Declare();
Context.Declare();
Idle.Declare();
Scale.Declare();
Pile.Declare();
Block.Declare();
Blocking.Declare();
Taskscale.Workloads.CSharp.Bytes.Workload.Declare();
Taskscale.Workloads.Interp.Workload.Declare(Ways.Lookups, Ways.All);
Probe.Serve(runtime, Environment.Version.ToString(), Environment.ProcessorCount);
return 0;
