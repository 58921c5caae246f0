package taskscale.sdk;

import java.util.Map;

/**
 * What a timed run brought: wall and CPU time of all iterations, the sum of their answers modulo 2^64, and in
 * {@code extra}, which takes more, what else is known.
 */
public record Timing(long wallNs, long cpuNs, long answer, Map<String, Object> extra) {}
