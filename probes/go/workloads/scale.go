package workloads

import (
	"fmt"
	"runtime"

	"taskscale/sdk"
)

const mostWorkers = 1000

// declareScale declares `scale`: size goroutines that so many workers share. Answer of an iteration: the sum of their results.
func declareScale() {
	sdk.Param("scale", "workers", 1, "threads that run goroutines at once: GOMAXPROCS")
	sdk.Param("scale", "work", 0, "steps of spin per task; 0: the task gives 31 * i")
	sdk.Variant("scale", "WaitGroup", scale, sdk.MaxSize(maxTasks), sdk.Note(whyMax))
}

func scale(run *sdk.Run) (sdk.Timing, error) {
	workers := run.Integer("workers")
	if workers < 1 || workers > mostWorkers {
		return sdk.Timing{}, fmt.Errorf("workers is %d; give 1 to %d", workers, mostWorkers)
	}
	before := runtime.GOMAXPROCS(int(workers))
	defer runtime.GOMAXPROCS(before)
	p := &plan{size: int(run.Size), window: int(run.Size), seed: run.Seed, work: run.Integer("work")}
	if !run.Verify {
		return run.Time(waitGroup(p)), nil
	}
	p.count = new(count)
	timing, err := p.count.report(run, run.Time(waitGroup(p)))
	// Threads that wait for a turn have run tasks too, so that more of them are seen than run at once.
	delete(timing.Extra, "workers_seen")
	return timing, err
}
