package workloads

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"taskscale/sdk"
)

// declareIdle declares `idle`: size milliseconds are watched, while `rate` goroutines arrive a second. Goroutine i arrives i
// steps of 1000 / rate milliseconds after the beginning, however late the one before it was, and adds a step to a count. A
// few a millisecond apart come before, untimed. Answer of an iteration: the count.
func declareIdle() {
	sdk.Param("idle", "rate", 1000, "goroutines that arrive a second: 1, 10, 100 or 1000")
	sdk.Variant("idle", "Timer/go", idle(byTimer), sdk.Note("a goroutine waits for a time.Timer"))
	sdk.Variant("idle", "time.Sleep/go", idle(bySleep))
	outside := []sdk.Option{sdk.Note("a goroutine that keeps its thread sleeps in the system")}
	if !canBlock {
		outside = append(outside, sdk.Unavailable("package syscall has no nanosleep on this system", "use Linux"))
	}
	sdk.Variant("idle", "outside/go", idle(byThread), outside...)
}

// waiting gives what waits until a time, and what is done behind the last one.
type waiting func() (wait func(until time.Time), end func())

func idle(form waiting) func(*sdk.Run) (sdk.Timing, error) {
	return func(run *sdk.Run) (sdk.Timing, error) {
		rate := run.Integer("rate")
		if rate != 1 && rate != 10 && rate != 100 && rate != 1000 {
			return sdk.Timing{}, fmt.Errorf("rate is %d; give 1, 10, 100 or 1000", rate)
		}
		step := 1000 / rate
		if run.Size%step != 0 {
			return sdk.Timing{}, fmt.Errorf("in %d ms no whole number of tasks arrives at %d a second", run.Size, rate)
		}
		arriving(form, 20, 1)
		return run.Time(func(*sdk.Phases) uint64 { return arriving(form, run.Size/step, step) }), nil
	}
}

// arriving starts a goroutine at each of its times, and gives what they all have added.
func arriving(form waiting, number, step uint64) uint64 {
	var count atomic.Uint64
	var all sync.WaitGroup
	wait, end := form()
	defer end()
	begun := time.Now()
	for i := uint64(1); i <= number; i++ {
		wait(begun.Add(time.Duration(i*step) * time.Millisecond))
		all.Add(1)
		go func() {
			count.Add(step)
			all.Done()
		}()
	}
	all.Wait()
	return count.Load()
}

func byTimer() (wait func(time.Time), end func()) {
	timer := time.NewTimer(time.Hour)
	if !timer.Stop() {
		<-timer.C
	}
	return func(until time.Time) {
		timer.Reset(time.Until(until))
		<-timer.C
	}, func() {}
}

func bySleep() (wait func(time.Time), end func()) {
	return func(until time.Time) { time.Sleep(time.Until(until)) }, func() {}
}

func byThread() (wait func(time.Time), end func()) {
	runtime.LockOSThread()
	return func(until time.Time) {
		if left := time.Until(until); left > 0 {
			nanosleep(left)
		}
	}, runtime.UnlockOSThread
}
