package sdk

import "runtime"

// What the runtime itself counts, and what reads it.
var counted = object{
	"allocations": "runtime.MemStats.Mallocs", "bytes": "runtime.MemStats.TotalAlloc",
	"collections": "runtime.MemStats.NumGC", "pause_ns": "runtime.MemStats.PauseTotalNs",
}

type counts map[string]uint64

// counters reads them where the request asks for any. It stops the world, and what Ps have counted for themselves is
// added up: the counts are exact.
func counters(asked string) counts {
	var stats runtime.MemStats
	if asked != "" {
		runtime.ReadMemStats(&stats)
	}
	if asked == "memory" {
		return counts{"allocations": stats.Mallocs, "bytes": stats.TotalAlloc}
	}
	return counts{"collections": uint64(stats.NumGC), "pause_ns": stats.PauseTotalNs}
}

// rise is by how much each rose since.
func (before counts) rise(after counts) counts {
	for name := range after {
		after[name] -= before[name]
	}
	return after
}
