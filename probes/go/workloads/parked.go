package workloads

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"taskscale/sdk"
)

// If for so long no further goroutine began to wait, none will.
const stuck = 5 * time.Second

// declareParked declares `parked`: size goroutines that all wait, and are woken and collected. What is timed is the waking;
// what they hold while they wait is read where the request asks for it. Answer of an iteration: the number that was woken.
func declareParked() {
	sdk.Param("parked", "on", "event", "what goroutines wait for: a channel to be closed; an hour to pass, or a context to be "+
		"cancelled; a Mutex that is held", "event", "timer", "lock")
	sdk.Param("parked", "resident", false, "also reads the memory of the process, after a collection: before the first "+
		"goroutine, and while all wait")
	sdk.Variant("parked", "WaitGroup", parked(goroutines), sdk.MaxSize(maxTasks), sdk.Note(whyMax))
}

// watch is what happens around the timed part of an iteration, and what a goroutine says of itself.
type watch struct {
	size           int64
	waiting, woken atomic.Int64
	tasks          sync.WaitGroup
}

// wait says that a goroutine begins to wait: nothing but the waiting may come behind it.
func (w *watch) wait() { w.waiting.Add(1) }

// done gives the value of a goroutine that was woken.
func (w *watch) done(value int64) {
	w.woken.Add(value)
	w.tasks.Done()
}

// untilAll returns when all wait: all have said so, and the runtime has taken them from their threads.
func (w *watch) untilAll() error {
	seen, since := int64(0), time.Now()
	for {
		now := w.waiting.Load()
		if now == w.size && suspended() >= uint64(w.size) {
			break
		}
		if now > seen {
			seen, since = now, time.Now()
		} else if time.Since(since) > stuck {
			return fmt.Errorf("%d of %d goroutines wait, and no further one begins to", now, w.size)
		}
		time.Sleep(time.Millisecond)
	}
	if woken := w.woken.Load(); woken > 0 {
		return fmt.Errorf("%d of %d goroutines went on before they were woken", woken, w.size)
	}
	return nil
}

// suspended is how many goroutines wait, by the scheduler's own account. Before Go 1.26 it keeps none: then those that have
// said that they wait have 20 ms to do so.
func suspended() uint64 {
	account := []metrics.Sample{{Name: "/sched/goroutines/waiting:goroutines"}}
	metrics.Read(account)
	if account[0].Value.Kind() == metrics.KindUint64 {
		return account[0].Value.Uint64()
	}
	time.Sleep(20 * time.Millisecond)
	return maxTasks
}

// parked performs all iterations of a form, which starts goroutines that wait and gives what wakes them.
func parked(start func(w *watch, on string) (wake func())) func(*sdk.Run) (sdk.Timing, error) {
	return func(run *sdk.Run) (sdk.Timing, error) {
		sum, resident := sdk.Timing{Extra: map[string]any{}}, run.Flag("resident")
		once := *run
		once.Iterations = 1
		for n := uint64(0); n < run.Iterations; n++ {
			// Later iterations find a heap that has held goroutines before.
			if resident && n == 0 {
				if err := tell(sum, "resident_before"); err != nil {
					return sum, err
				}
			}
			w := &watch{size: int64(run.Size)}
			wake := start(w, run.Word("on"))
			err := w.untilAll()
			if err == nil && resident && n == 0 {
				err = tell(sum, "resident_waiting")
			}
			if err != nil {
				return sum, err
			}
			part := once.Time(func(*sdk.Phases) uint64 {
				wake()
				w.tasks.Wait()
				return uint64(w.woken.Load())
			})
			sum.WallNs += part.WallNs
			sum.CPUNs += part.CPUNs
			sum.Answer += part.Answer
		}
		if resident || run.Verify {
			sum.Extra["waiting"] = run.Size // each iteration has made sure of it
		}
		return sum, nil
	}
}

// goroutines starts w.size goroutines that wait for what on says.
func goroutines(w *watch, on string) (wake func()) {
	w.tasks.Add(int(w.size))
	switch on {
	case "timer":
		ctx, cancel := context.WithCancel(context.Background())
		for n := w.size; n > 0; n-- {
			go func() {
				w.wait()
				w.done(sleep(ctx))
			}()
		}
		return cancel
	case "lock":
		var held sync.Mutex
		held.Lock()
		for n := w.size; n > 0; n-- {
			go func() {
				w.wait()
				held.Lock()
				held.Unlock()
				w.done(1)
			}()
		}
		return held.Unlock
	}
	event := make(chan struct{})
	for n := w.size; n > 0; n-- {
		go func() {
			w.wait()
			<-event
			w.done(1)
		}()
	}
	return func() { close(event) }
}

// sleep sleeps for an hour, and gives 1 if that was cut short.
func sleep(ctx context.Context) int64 {
	timer := time.NewTimer(time.Hour)
	select {
	case <-ctx.Done():
		timer.Stop()
		return 1
	case <-timer.C:
		return 0
	}
}

// tell reads the memory of the process after a collection.
func tell(timing sdk.Timing, name string) error {
	runtime.GC()
	bytes, err := residentBytes()
	timing.Extra[name] = bytes
	return err
}

// residentBytes is the resident memory of this process. smaps_rollup counts pages; the kernel's running totals lag behind.
func residentBytes() (uint64, error) {
	const rollup = "/proc/self/smaps_rollup"
	text, err := os.ReadFile(rollup)
	if err != nil {
		return 0, err
	}
	for _, line := range bytes.Split(text, []byte("\n")) {
		if fields := bytes.Fields(line); len(fields) > 1 && string(fields[0]) == "Rss:" {
			kib, err := strconv.ParseUint(string(fields[1]), 10, 64)
			return kib * 1024, err
		}
	}
	return 0, fmt.Errorf("%s has no line Rss", rollup)
}
