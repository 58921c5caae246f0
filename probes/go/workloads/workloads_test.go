package workloads

import (
	"context"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"

	"taskscale/sdk"
)

func request(order string, params map[string]any) *sdk.Run {
	run := &sdk.Run{Size: 500, Iterations: 3, Seed: 7, Verify: true, Params: map[string]any{
		"order": order, "work": uint64(0), "window": uint64(0), "extra_spin": uint64(0), "live": uint64(0), "gc": "on",
	}}
	for name, value := range params {
		run.Params[name] = value
	}
	return run
}

func TestSplitmixIsThePublishedGenerator(t *testing.T) {
	// First outputs of splitmix64 with seed 1234567, from its author's reference program.
	const gamma = 0x9E3779B97F4A7C15
	seed := uint64(1234567)
	for _, expected := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423} {
		if got := splitmix(seed); got != expected {
			t.Errorf("%d, not %d", got, expected)
		}
		seed += gamma
	}
}

func TestAStepIsThatOfXorshift64(t *testing.T) {
	step := func(x uint64) uint64 {
		x ^= x << 13
		x ^= x >> 7
		return x ^ x<<17
	}
	// The first step from state 1, by hand: 1 ^ 1<<13 = 0x2001; ^ >>7 = 0x2041; ^ <<17 = 0x40822041.
	if step(1) != 0x40822041 || spin(7, 2) != step(step(splitmix(7))) {
		t.Error(spin(7, 2))
	}
}

// fanouts are the forms that this toolchain has, with their orders.
func fanouts() map[string]func(*plan) iteration {
	forms := map[string]func(*plan) iteration{
		"ordered waitGroup": waitGroup, "ordered waitGroupGo": waitGroupGo, "ordered errGroup": errGroup,
		"discard waitGroup": waitGroup, "discard waitGroupGo": waitGroupGo, "discard errGroup": errGroup,
		"completion channel": channel,
	}
	for name, form := range forms {
		if form(&plan{}) == nil {
			delete(forms, name)
		}
	}
	return forms
}

func TestEveryFormDoesEveryTaskOnceAndNoMoreAtOnceThanTheWindow(t *testing.T) {
	for name, form := range fanouts() {
		order, _, _ := strings.Cut(name, " ")
		for _, window := range []uint64{0, 1, 7, 1000} {
			for _, work := range []uint64{0, 5} {
				run := request(order, map[string]any{"window": window, "work": work, "extra_spin": uint64(1)})
				expected := uint64(0)
				for i := uint64(0); i < run.Size; i++ {
					if work == 0 {
						expected += 31 * i
					} else {
						expected += spin(run.Seed+i, work)
					}
				}
				timing, err := fanout(form)(run)
				if err != nil || timing.Answer != 3*expected || timing.Extra["executed"] != uint64(1500) {
					t.Errorf("%s, window %d, work %d: %v, %v", name, window, work, timing, err)
				}
				if live := timing.Extra["max_live"].(int64); live < 1 || 0 < window && window < run.Size && live > int64(window) {
					t.Errorf("%s, window %d: %d tasks alive at once", name, window, live)
				}
				run.Verify = false
				if order == "discard" {
					expected = run.Size
				}
				if timing, err := fanout(form)(run); err != nil || timing.Answer != 3*expected || len(timing.Extra) > 0 {
					t.Errorf("%s, window %d, work %d, timed: %v, %v", name, window, work, timing, err)
				}
			}
		}
	}
}

func TestALostTaskIsFound(t *testing.T) {
	lossy := func(p *plan) iteration {
		fewer := *p
		fewer.size, fewer.window = p.size-1, p.window-1
		return waitGroup(&fewer)
	}
	if _, err := fanout(lossy)(request("discard", nil)); err == nil || err.Error() != "1497 tasks were executed, 1500 were asked for" {
		t.Error(err)
	}
}

func TestAResultInTheWrongPlaceIsFound(t *testing.T) {
	defer func() {
		if reason := recover(); reason != "result 0 is 31, not 0" {
			t.Error(reason)
		}
	}()
	(&plan{count: new(count)}).ordered([]uint64{31, 0})
}

func TestNopDoesEveryTaskOnceInBatches(t *testing.T) {
	forms := map[string]func(int, *count, *sdk.Phases){"WaitGroup": nopWaitGroup}
	if waitGroupGo(&plan{}) != nil {
		forms["WaitGroup.Go"] = nopWaitGroupGo
	}
	if errGroup(&plan{}) != nil {
		forms["errgroup"] = nopErrGroup
	}
	for name, form := range forms {
		for _, gc := range []string{"on", "off", "collect"} {
			run := request("", map[string]any{"live": uint64(7), "gc": gc})
			timing, err := nop(form)(run)
			if err != nil || timing.Answer != 1500 || timing.Extra["max_live"].(int64) > 7 {
				t.Errorf("%s, gc %s: %v, %v", name, gc, timing, err)
			}
			run.Verify = false
			if timing, err := nop(form)(run); err != nil || timing.Answer != 1500 {
				t.Errorf("%s, gc %s, timed: %v, %v", name, gc, timing, err)
			}
		}
	}
}

func TestACollectionWithTheCollectorOffIsFound(t *testing.T) {
	allocates := func(int, *count, *sdk.Phases) {
		for i := 0; i < 1000; i++ {
			kept = make([]byte, 100_000)
		}
	}
	for name, form := range map[string]func(int, *count, *sdk.Phases){
		"limit": allocates, "runtime.GC": func(int, *count, *sdk.Phases) { runtime.GC() },
	} {
		run := request("", map[string]any{"gc": "off"})
		run.Verify = false
		if name == "limit" {
			timing, err := nop(form)(run)
			if err != nil || timing.Extra["gc_collections"].([]uint32)[0] != 0 {
				t.Errorf("without a limit: %v, %v", timing, err)
			}
			defer debug.SetMemoryLimit(debug.SetMemoryLimit(64 << 20))
		}
		_, err := nop(form)(run)
		if err == nil || !strings.HasPrefix(err.Error(), "gc=off did not hold (collections: ") ||
			!strings.Contains(err.Error(), "(500 tasks, 3 times)") || !strings.Contains(err.Error(), "--size") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if percent := debug.SetGCPercent(100); percent != 100 {
		t.Errorf("a failed request leaves the collector at %d", percent)
	}
}

var kept []byte

func parkedRequest(on string, resident bool) *sdk.Run {
	run := request("", map[string]any{"on": on, "resident": resident})
	run.Verify = !resident
	return run
}

func TestAllGoroutinesOfParkedWaitAtOnceAndAreWoken(t *testing.T) {
	for _, on := range []string{"event", "timer", "lock"} {
		for _, resident := range []bool{false, true} {
			timing, err := parked(goroutines)(parkedRequest(on, resident))
			if err != nil || timing.Answer != 3*500 || timing.Extra["waiting"] != uint64(500) {
				t.Errorf("%s: %v, %v", on, timing, err)
			}
			if _, told := timing.Extra["resident_waiting"]; told != resident {
				t.Errorf("%s: %v", on, timing)
			}
		}
	}
}

func TestAGoroutineThatGoesOnTooEarlyIsFound(t *testing.T) {
	early := func(w *watch, on string) func() {
		wake := goroutines(w, on)
		w.tasks.Add(1)
		w.done(1)
		return wake
	}
	_, err := parked(early)(parkedRequest("event", false))
	if err == nil || !strings.Contains(err.Error(), "1 of 500 goroutines went on before they were woken") {
		t.Error(err)
	}
}

func TestMemoryGrowsByAtLeastAStackForEachGoroutine(t *testing.T) {
	run := parkedRequest("event", true)
	run.Size, run.Iterations = 20_000, 1
	timing, err := parked(goroutines)(run)
	if err != nil {
		t.Fatal(err)
	}
	// A stack has 2 KiB at least.
	grown := timing.Extra["resident_waiting"].(uint64) - timing.Extra["resident_before"].(uint64)
	if grown < 20_000*2048 {
		t.Errorf("%d bytes", grown)
	}
}

func TestAllThatWaitAreCancelledByEveryForm(t *testing.T) {
	forms := map[string]contexts{"shared": shared, "derived": derived, "derived_each": derivedEach, "chain": chain}
	for name, form := range forms {
		for _, on := range []string{"event", "timer"} {
			for _, first := range []string{"oldest", "newest"} {
				timing, err := cancelling(form)(request("", map[string]any{"on": on, "first": first}))
				if err != nil || timing.Answer != 3*500 {
					t.Errorf("%s, %s, %s first: %v, %v", name, on, first, timing, err)
				}
				if _, told := timing.Extra["setup_cpu_ns"]; !told {
					t.Errorf("%s: setting up is not told: %v", name, timing)
				}
			}
		}
	}
	if timing, err := afterFunc(request("", nil)); err != nil || timing.Answer != 3*500 {
		t.Errorf("AfterFunc: %v, %v", timing, err)
	}
}

func TestAGoroutineThatIsCancelledTooEarlyIsFound(t *testing.T) {
	early := func(n int, newest bool) ([]context.Context, func()) {
		all, cancels, cancel := children(n)
		cancels[0]()
		return all, cancel
	}
	run := request("", map[string]any{"on": "event", "first": "oldest"})
	if _, err := cancelling(early)(run); err == nil {
		t.Error("nothing was found")
	}
}

func TestEveryTokenComesBack(t *testing.T) {
	for name, pair := range map[string]func() (end, end){"chan": unbuffered, "chan/buffered": withPlace, "sync.Cond": conditions} {
		for _, workers := range []string{"cores", "one"} {
			// 500 trips do not divide evenly by 7; of 600 pairs some have none.
			for _, pairs := range []int{1, 7, 600} {
				before := runtime.GOMAXPROCS(0)
				timing, err := pingpong(pair)(request("", map[string]any{"pairs": pairs, "workers": workers}))
				if err != nil || timing.Answer != 3*500 {
					t.Errorf("%s, %s, %d: %v, %v", name, workers, pairs, timing, err)
				}
				if now := runtime.GOMAXPROCS(0); now != before {
					t.Errorf("GOMAXPROCS was %d and is %d", before, now)
				}
			}
		}
	}
}

func TestEveryTaskFromOutsideRuns(t *testing.T) {
	forms := map[string]func(*ran) (func(uint64), func()){"starting": starting, "sending": sending}
	for name, form := range forms {
		for _, locked := range []bool{true, false} {
			// 500 tasks do not divide evenly by 7.
			for _, producers := range []int{1, 7, 64} {
				timing, err := remote(locked, form)(request("", map[string]any{"producers": producers}))
				if err != nil || timing.Answer != 3*500 {
					t.Errorf("%s, %v, %d: %v, %v", name, locked, producers, timing, err)
				}
			}
			for _, producers := range []int{0, 65} {
				if _, err := remote(locked, form)(request("", map[string]any{"producers": producers})); err == nil {
					t.Errorf("%s: %d producers are not refused", name, producers)
				}
			}
		}
	}
}

func TestSharesOfProducersAddUp(t *testing.T) {
	var calls, tasks atomic.Uint64
	told := func(r *ran) (func(uint64), func()) {
		submit, end := starting(r)
		return func(share uint64) {
			calls.Add(1)
			tasks.Add(share)
			submit(share)
		}, end
	}
	if _, err := remote(true, told)(request("", map[string]any{"producers": 7})); err != nil {
		t.Fatal(err)
	}
	if calls.Load() != 3*7 || tasks.Load() != 3*500 {
		t.Errorf("%d shares have %d tasks", calls.Load(), tasks.Load())
	}
}

func TestEachGoroutineHasItsOwnValues(t *testing.T) {
	forms := map[string]func(context.Context, uint64, uint64, uint64) uint64{"suspending": suspending, "asking": asking}
	for name, form := range forms {
		for _, variables := range []int{0, 1, 8} {
			timing, err := carrying(form)(request("", map[string]any{"variables": variables}))
			if err != nil || timing.Answer != 3*500 {
				t.Errorf("%s, %d: %v, %v", name, variables, timing, err)
			}
		}
		if right := form(context.Background(), 5, 1000, 1); right != 0 {
			t.Errorf("%s: %d values of a context without any are right", name, right)
		}
		if _, err := carrying(form)(request("", map[string]any{"variables": 3})); err == nil {
			t.Errorf("%s: three variables are not refused", name)
		}
	}
}

func TestEveryGoroutineArrivesAtItsTime(t *testing.T) {
	for name, form := range map[string]waiting{"Timer": byTimer, "Sleep": bySleep, "thread": byThread} {
		for rate, size := range map[int]uint64{1000: 20, 100: 20, 10: 100} {
			run := request("", map[string]any{"rate": rate})
			run.Size = size
			timing, err := idle(form)(run)
			if err != nil || timing.Answer != 3*size || timing.WallNs < int64(3*size*1_000_000) {
				t.Errorf("%s, %d: %v, %v", name, rate, timing, err)
			}
		}
		for _, wrong := range []map[string]any{{"rate": 50}, {"rate": 1}} {
			if _, err := idle(form)(request("", wrong)); err == nil {
				t.Errorf("%s: %v in 500 ms is not refused", name, wrong)
			}
		}
	}
}

func scaleRequest(workers, work int) *sdk.Run {
	params := map[string]any{"workers": workers, "work": work}
	return &sdk.Run{Size: 300, Iterations: 2, Seed: 11, Verify: true, Params: params}
}

func TestWorkersOfScaleDoEveryTaskOnceAndAreThenAsBefore(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	for _, workers := range []int{1, 2, 5} {
		timing, err := scale(scaleRequest(workers, 0))
		if want := uint64(2 * 31 * 300 * 299 / 2); err != nil || timing.Answer != want || timing.Extra["executed"] != uint64(600) {
			t.Errorf("%d workers: %v %v, not %d", workers, timing, err, want)
		}
	}
	if after := runtime.GOMAXPROCS(0); after != before {
		t.Errorf("GOMAXPROCS is %d behind it, was %d", after, before)
	}
	for _, workers := range []int{0, 1001} {
		if _, err := scale(scaleRequest(workers, 0)); err == nil {
			t.Errorf("%d workers are not refused", workers)
		}
	}
}
