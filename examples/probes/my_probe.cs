// A probe of your own. `taskscale probe check my_probe.cs` tests it, `taskscale run --probe my_probe.cs` weighs it.
// A package of NuGet is named as in any program of one file: #:package NAME@VERSION
using System.Runtime.CompilerServices;
using Taskscale;

// `taskscale run fanout` asks by this parameter how results are to be collected: here, in order.
Probe.Param("fanout", "order", "ordered", "how results are collected", "ordered");

// One call for each way of doing it that you want to compare: change the name, and the code that is timed. What is
// declared with `VariantAsync` begins inside the thread pool, with `Variant` and `run.Time` on the main thread.
Probe.VariantAsync("fanout", "mine", run => run.TimeAsync(async phases => {
    // Your tasks, `run.Size` of them. The tool knows the right sum of these: keep it.
    var tasks = new Task<long>[run.Size];
    for (int i = 0; i < run.Size; i++) {
        int unit = i;
        tasks[i] = Task.Run(() => Work(unit));
    }
    phases.Created(); // the last task is started; leave it out if you cannot say
    long sum = 0;
    foreach (long result in await Task.WhenAll(tasks)) sum += result;
    return sum;
})); // .CreatesTask(false) says that a unit is no task that the scheduler sees

Probe.Serve("mine", "1.0"); // your library's name and version

// Not inlined, or the compiler may leave out what you want to weigh. Put your own code here.
[MethodImpl(MethodImplOptions.NoInlining)]
static long Work(int i) => 31L * i;
