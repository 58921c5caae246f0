// Package workloads performs fanout, nop, spin, drain, parked, scale, pingpong, remote, context, idle, cancel, blocking, bytes and interp on goroutines.
//
// A form is one way of starting tasks and waiting for them. Its loops are written out once for each kind of task (plain,
// spun, counted), and the kind is chosen outside the timed part: a loop over tasks that called a func value or a method of
// a type parameter would pay for an indirect call per task.
package workloads

import (
	"taskscale/sdk"
	"taskscale/workloads/interp"
)

// What the counter of a sync.WaitGroup can hold; past it Add panics.
const (
	maxTasks = 1<<31 - 1
	whyMax   = "a sync.WaitGroup counts up to 2^31 - 1"
)

// Declare declares all workloads with their variants.
func Declare() {
	declareFanout()
	declareNop()
	declareSpin()
	declareDrain()
	declareParked()
	declareBlocking()
	declareCancel()
	declarePingpong()
	declareRemote()
	declareContext()
	declareIdle()
	declareScale()
	declareBytes()
	interp.Declare()
}

// atOnce is how many tasks may be alive at once: limit, or all where that is 0 or more than there are.
func atOnce(run *sdk.Run, limit string) int {
	if most := run.Integer(limit); 0 < most && most < run.Size {
		return int(most)
	}
	return int(run.Size)
}
