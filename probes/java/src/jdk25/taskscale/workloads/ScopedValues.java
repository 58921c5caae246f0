package taskscale.workloads;

import java.util.concurrent.Callable;
import java.util.stream.IntStream;

/** {@code ScopedValue}s: bound while a call lasts. */
public final class ScopedValues implements Context.Variables {
    private static final ScopedValue<Long>[] ALL = all();

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static ScopedValue<Long>[] all() {
        return IntStream.range(0, 8).mapToObj(at -> ScopedValue.newInstance()).toArray(ScopedValue[]::new);
    }

    @Override
    public long within(long first, int count, Callable<Long> body) throws Exception {
        if (count == 0) {
            return body.call();
        }
        ScopedValue.Carrier carrier = ScopedValue.where(ALL[0], first);
        for (int at = 1; at < count; at++) {
            carrier = carrier.where(ALL[at], first + at);
        }
        return carrier.call(body::call);
    }

    @Override
    public Long read(int variable) {
        ScopedValue<Long> value = ALL[variable];
        return value.isBound() ? value.get() : null;
    }
}
