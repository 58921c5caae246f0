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
	if err != nil || done != 5 || timing.Answer != 5 {
		t.Error(timing, done, err)
	}
}
