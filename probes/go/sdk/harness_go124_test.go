//go:build go1.24

package sdk

import "testing"

func TestALoopByBLoopIsRepeatedAsOften(t *testing.T) {
	run, done := &Run{Iterations: 5}, 0
	timing, err := run.Benchmark(func(b *testing.B) {
		for b.Loop() {
			done++
		}
	})
	// A busy machine may have it attempted again.
	if err != nil || done == 0 || done%5 != 0 || timing.Answer != 5 {
		t.Error(timing, done, err)
	}
}

func TestWhatLiesBeforeALoopByBLoopIsNotTakenForIt(t *testing.T) {
	for ms, fails := range map[int64]bool{1: true, 100: false} {
		_, err := (&Run{Iterations: 3}).Benchmark(func(b *testing.B) {
			spin(20)
			for b.Loop() {
				spin(ms)
			}
		})
		if (err != nil) != fails {
			t.Error(ms, err)
		}
	}
}
