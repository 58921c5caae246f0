package taskscale.workloads;

import static taskscale.workloads.InterpTest.same;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Pools of {@code scale} do each task once, on no more threads than they are given. */
final class ScaleTest {
    private ScaleTest() {}

    static void all() {
        for (int workers : new int[] {1, 3}) {
            InterpTest.test("so many threads fork and join: " + workers, () -> filled(Scale.forkJoin(workers), workers));
            InterpTest.test("so many threads are submitted to: " + workers, () -> filled(Scale.fixed(workers), workers));
        }
    }

    private static void filled(Scale.Pool pool, int workers) throws Exception {
        Set<Thread> seen = ConcurrentHashMap.newKeySet();
        long[] slots = new long[2_000];
        pool.pass(slots, i -> {
            seen.add(Thread.currentThread());
            return Kernel.spin(i, 500);
        });
        pool.close();
        for (int i = 0; i < slots.length; i++) {
            same(Kernel.spin(i, 500), slots[i], "task " + i);
        }
        same(true, seen.size() <= workers && !seen.contains(Thread.currentThread()), "threads: " + seen.size());
    }
}
