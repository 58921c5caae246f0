// Package interp performs `interp`: requests to an interpreter that may suspend, in every encoding that Go has for it.
//
// program.go reads the tree, values.go holds values, the environment and the builtins that cannot suspend; sync.go is
// `sync` and the nodes of `green` and `task`, task.go the goroutine of both, union.go is `union`; observe.go is what an
// instrumented run counts; http.go is the server.
package interp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"time"

	"taskscale/sdk"
)

// Declare declares the workload. Answer of an iteration: the number of requests with the right output.
func Declare() {
	lookup := "how a call finds its function: in a map, or in the tree; the environment is a linked list"
	sdk.Param("interp", "lookup", "by_name", lookup, "by_name", "prelinked")
	sdk.Param("interp", "pause", 0, "elements of 100 that suspend: 0, 6 (those that 15 divides) or 100")
	sdk.Param("interp", "depth", 0, "above 0: that many nested lets are evaluated")
	sdk.Param("interp", "workers", 0, "above 0: that many goroutines share the requests, each with a loop of its own")
	sdk.Param("interp", "mode", "inproc", "whether requests are made in the process, or over HTTP to a server of net/http", "inproc", httpClosed, httpOpen)
	sdk.Param("interp", "rate", 50, "http-open: percent of the closed throughput")
	for _, one := range encodings {
		sdk.Variant("interp", one.name, one.perform, sdk.CreatesTask(one.createsTask), sdk.Note(one.note))
	}
	sdk.Variant("interp", "constant", constant, sdk.CreatesTask(false), sdk.Only("mode", httpClosed, httpOpen),
		sdk.Note("the right bytes without evaluating: what the server costs"))
}

// encoding is a way of writing the interpreter.
type encoding struct {
	name, note  string
	createsTask bool
	request     func(of *term, p *pauses, linked bool, c *count) func() value // evaluates a tree; counts, unless c is nil
}

var encodings = []encoding{
	{"sync", "plain recursion; an element that suspends calls runtime.Gosched", false,
		func(of *term, p *pauses, linked bool, c *count) func() value {
			root := newSyncTree(p, linked).counting(c).node(of)
			return func() value { return root.eval(nil) }
		}},
	{"green", "a goroutine for each request, which runs sync; an element that suspends calls runtime.Gosched", true,
		func(of *term, p *pauses, linked bool, c *count) func() value {
			root := newSyncTree(p, linked).counting(c).node(of)
			return func() value { return spawned{root}.eval(nil) }
		}},
	{"task", "a goroutine and a channel for each node; an element that suspends calls runtime.Gosched", true,
		func(of *term, p *pauses, linked bool, c *count) func() value {
			root := newTaskTree(p, linked).counting(c).node(of)
			return func() value { return root.eval(nil) }
		}},
	{"union", "a struct of a value and a channel; what follows is a closure; an element that suspends is a goroutine that calls runtime.Gosched", false,
		func(of *term, p *pauses, linked bool, c *count) func() value {
			root := newUnionTree(p, linked).counting(c).node(of)
			return func() value { return root.eval(nil).wait() }
		}},
}

func (t *syncTree) counting(c *count) *syncTree {
	if c != nil {
		t.watch(c)
	}
	return t
}

func (t *unionTree) counting(c *count) *unionTree {
	if c != nil {
		t.watch(c)
	}
	return t
}

// every says which elements suspend, by how many do.
var every = map[uint64]int64{0: 0, 6: 15, 100: 1}

// perform does all iterations inside the timed part.
func (e encoding) perform(run *sdk.Run) (sdk.Timing, error) {
	divisor, known := every[run.Integer("pause")]
	if !known {
		return sdk.Timing{}, fmt.Errorf("pause is %d; give 0, 6 or 100", run.Integer("pause"))
	}
	of, right := parsed(), output()
	if depth := run.Integer("depth"); depth > 0 {
		of, right = nested(depth), []byte("1")
	}
	number := max(run.Integer("workers"), 1)
	if number > mostWorkers {
		return sdk.Timing{}, fmt.Errorf("workers is %d; give at most %d", number, mostWorkers)
	}
	workers := make([]*worker, number)
	for i := range workers {
		one := &worker{requests: share(run.Size, number, uint64(i)), right: right}
		if run.Verify {
			one.count = newCount()
		}
		one.request = e.request(of, &pauses{divisor, runtime.Gosched}, run.Word("lookup") == "prelinked", one.count)
		workers[i] = one
	}
	var timing sdk.Timing
	var err error
	if served(run) {
		timing, err = serve(run, right, workers[0].answer)
	} else if run.Integer("workers") == 0 {
		timing = run.Time(func(*sdk.Phases) uint64 { return workers[0].loop() })
	} else {
		timing = together(run, workers)
	}
	if err != nil {
		return timing, err
	}
	for _, one := range workers {
		if one.wrong != nil {
			return timing, one.wrong
		}
	}
	if run.Verify {
		for _, one := range workers[1:] {
			workers[0].count.add(one.count)
		}
		for name, counted := range workers[0].count.report() {
			timing.Extra[name] = counted
		}
	}
	return timing, nil
}

const mostWorkers = 1000

// share is how many of size requests worker i of number answers.
func share(size, number, i uint64) uint64 {
	if i < size%number {
		return size/number + 1
	}
	return size / number
}

// worker answers requests in a loop.
type worker struct {
	requests uint64
	request  func() value
	right    []byte
	wrong    error  // what was wrong with the first wrong output
	count    *count // of an instrumented run, else nil
	start    chan bool
	wall     time.Duration
}

func (w *worker) loop() (right uint64) {
	for n := uint64(0); n < w.requests; n++ {
		right += w.judged(w.request())
	}
	return right
}

// judged writes a result and compares it. Returns 1 if it is right.
func (w *worker) judged(result value) uint64 {
	wrong := w.differs(result)
	if wrong == nil {
		return 1
	}
	if w.wrong == nil {
		w.wrong = wrong
	}
	return 0
}

// answer makes one request, on any goroutine. Returns what is wrong with its output.
func (w *worker) answer() error { return w.differs(w.request()) }

func (w *worker) differs(result value) error {
	written, err := json.Marshal(result)
	if w.count != nil {
		w.count.answered(written)
	}
	if bytes.Equal(written, w.right) {
		return nil
	}
	return difference(written, w.right, err)
}

// together has each worker loop in a goroutine of its own, which waits between iterations.
func together(run *sdk.Run, workers []*worker) sdk.Timing {
	done := make(chan uint64, len(workers))
	for _, one := range workers {
		one.start = make(chan bool)
		go func(w *worker) {
			for range w.start {
				began := time.Now()
				right := w.loop()
				w.wall += time.Since(began)
				done <- right
			}
		}(one)
	}
	timing := run.Time(func(*sdk.Phases) (right uint64) {
		for _, one := range workers {
			one.start <- true
		}
		for range workers {
			right += <-done
		}
		return right
	})
	requests, walls := make([]uint64, len(workers)), make([]int64, len(workers))
	for i, one := range workers {
		close(one.start)
		requests[i], walls[i] = run.Iterations*one.requests, one.wall.Nanoseconds()
	}
	timing.Extra["worker_requests"], timing.Extra["worker_wall_ns"] = requests, walls
	return timing
}

// difference says where an output first differs from the right one.
func difference(got, right []byte, failed error) error {
	if failed != nil {
		return fmt.Errorf("a request's output is no value: %w", failed)
	}
	at := 0
	for at < min(len(got), len(right)) && got[at] == right[at] {
		at++
	}
	part := func(text []byte) []byte { return text[at:min(len(text), at+40)] }
	return fmt.Errorf("a request's output differs from byte %d on: %q, right is %q (%d bytes, right are %d)",
		at, part(got), part(right), len(got), len(right))
}
