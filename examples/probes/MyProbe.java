// A probe of your own. `taskscale probe check MyProbe.java` tests it,
// `taskscale run --probe MyProbe.java` weighs it.
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import taskscale.sdk.Probe;

public class MyProbe {
    public static void main(String[] args) {
        // `taskscale run fanout` asks by this parameter how results are to be collected: here, in order.
        Probe.param("fanout", "order", "ordered", "how results are collected", "ordered");
        var pool = Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors());
        // One call for each way of doing it that you want to compare: change the name, and the code that is timed.
        Probe.variant("fanout", "thread_pool", run -> run.time(phases -> {
            // Your tasks, `run.size` of them. The tool knows the right sum of these: keep it.
            var futures = IntStream.range(0, run.size).mapToObj(i -> pool.submit(() -> 31L * i)).toList();
            phases.created(); // the last task is started; leave it out if you cannot say
            long sum = 0;
            for (var future : futures) {
                sum += future.get();
            }
            return sum;
        }));
        Probe.serve("my-java", "1.0"); // your library's name and version
    }
}
