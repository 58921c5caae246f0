package workloads

import (
	"testing"
	"time"
)

func TestEveryCallOfBlockingBlocksAndWaitsAreTold(t *testing.T) {
	ways := map[string]func(time.Duration){"without": nil, "time.Sleep": time.Sleep}
	if canBlock {
		ways["inline"] = nanosleep
	}
	for name, way := range ways {
		run := request("", map[string]any{"block_us": uint64(2000), "every": uint64(4)})
		run.Size, run.Iterations = 9, 2
		timing, err := blocking(way)(run)
		blocked := int64(0)
		if way != nil {
			blocked = 6
		}
		if err != nil || timing.Answer != 18 || timing.Extra["blocked"] != blocked {
			t.Errorf("%s: %v, %v", name, timing, err)
		}
		told := func(what string) int64 { return timing.Extra["wait_"+what+"_ns"].(int64) }
		if told("p50") <= 0 || told("p50") > told("p99") || told("p99") > told("max") {
			t.Errorf("%s: %v", name, timing)
		}
		// Each iteration lasts at least as long as one call.
		if way != nil && timing.WallNs < 2*2_000_000 {
			t.Errorf("%s: %v", name, timing)
		}
	}
}
