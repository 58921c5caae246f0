// A probe of your own. `taskscale probe check MyProbe.java` tests it, `taskscale run fanout --probe MyProbe.java` weighs it.
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import taskscale.sdk.Probe;

public class MyProbe {
    public static void main(String[] args) {
        // Change the name, and what is done `run.size` times; register as many variants as you like to compare.
        Probe.variant("fanout", "virtual_threads", run -> run.time(phases -> {
            long sum = 0;
            try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
                List<Future<Long>> futures = new ArrayList<>();
                for (int i = 0; i < run.size; i++) {
                    long task = i;
                    futures.add(executor.submit(() -> 31 * task)); // your task here; the tool checks the sum
                }
                phases.created(); // optional: the last task is started, so that creation can be told from the rest
                for (Future<Long> future : futures) {
                    sum += future.get();
                }
            }
            return sum;
        }));
        Probe.serve("my-java", Runtime.version().toString());
    }
}
