package interp

import (
	"crypto/sha256"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"taskscale/sdk"
)

const rightOrder, rightOutput = "2153812598003189471", "5476290587449551085"

func request(params map[string]any) *sdk.Run {
	run := &sdk.Run{Size: 3, Iterations: 2, Seed: 1, Verify: true, Params: map[string]any{
		"lookup": "by_name", "pause": uint64(0), "depth": uint64(0), "workers": uint64(0), "mode": "inproc",
	}}
	for name, value := range params {
		run.Params[name] = value
	}
	return run
}

// counts is what six requests count.
func counts(pause uint64) map[string]any {
	return map[string]any{
		"nodes": uint64(6 * 1804), "builtins": uint64(6 * 603), "applications": uint64(600), "extensions": uint64(606),
		"deepest": uint64(8), "order": rightOrder, "output": rightOutput, "suspended": 6 * pause, "consumed_twice": uint64(0),
	}
}

// performed is what an encoding counts. Its output is right.
func performed(t *testing.T, one encoding, params map[string]any) map[string]any {
	t.Helper()
	timing, err := one.perform(request(params))
	if err != nil || timing.Answer != 6 {
		t.Fatalf("%s %v: %v, %v", one.name, params, timing, err)
	}
	return timing.Extra
}

func TestTheProgramAndItsOutputAreThoseOfAllLanguages(t *testing.T) {
	for text, digest := range map[string]string{
		program:          "2afafbdc1160a3a282ac3d064f285c2ca6ef0fef6967814b02e194e22d6b9028",
		string(output()): "812dce4f4fa16015bfb38a37fc7b6f7b34bc7d243fd9f95c65e71252f017b764",
	} {
		if got := fmt.Sprintf("%x", sha256.Sum256([]byte(text))); got != digest {
			t.Errorf("%s is of %s", text, got)
		}
	}
	shared, err := os.ReadFile("../../../interp/program.json")
	if err != nil {
		t.Skip("taken out of the repository there is no other program to agree with")
	}
	if program != strings.TrimSpace(string(shared)) {
		t.Errorf("%s", shared)
	}
}

func TestEveryEncodingCountsWhatIsRight(t *testing.T) {
	for _, one := range encodings {
		for _, pause := range []uint64{0, 6, 100} {
			for _, lookup := range []string{"by_name", "prelinked"} {
				params := map[string]any{"pause": pause, "lookup": lookup}
				if extra := performed(t, one, params); !reflect.DeepEqual(extra, counts(pause)) {
					t.Errorf("%s %v: %v", one.name, params, extra)
				}
				timed := request(params)
				timed.Verify = false
				if timing, err := one.perform(timed); err != nil || timing.Answer != 6 || len(timing.Extra) > 0 {
					t.Errorf("%s %v, timed: %v, %v", one.name, params, timing, err)
				}
			}
		}
	}
}

func TestRequestsAreDividedAmongWorkers(t *testing.T) {
	for _, one := range encodings {
		extra := performed(t, one, map[string]any{"workers": uint64(2), "pause": uint64(6)})
		walls, requests := extra["worker_wall_ns"].([]int64), extra["worker_requests"]
		if !reflect.DeepEqual(requests, []uint64{4, 2}) || len(walls) != 2 || min(walls[0], walls[1]) <= 0 {
			t.Errorf("%s: %v", one.name, extra)
		}
		delete(extra, "worker_requests")
		delete(extra, "worker_wall_ns")
		if !reflect.DeepEqual(extra, counts(6)) {
			t.Errorf("%s: %v", one.name, extra)
		}
	}
	if extra := performed(t, encodings[0], map[string]any{"workers": uint64(5)}); !reflect.DeepEqual(extra["worker_requests"], []uint64{2, 2, 2, 0, 0}) {
		t.Error(extra)
	}
}

func TestNestedLetsAreAsDeepAsAskedFor(t *testing.T) {
	for _, one := range encodings {
		extra := performed(t, one, map[string]any{"depth": uint64(50)})
		right := map[string]any{
			"nodes": uint64(6 * 101), "builtins": uint64(0), "applications": uint64(0), "extensions": uint64(300),
			"deepest": uint64(51), "order": "14695981039346656037", "output": "12638134423997487868",
			"suspended": uint64(0), "consumed_twice": uint64(0),
		}
		if !reflect.DeepEqual(extra, right) {
			t.Errorf("%s: %v", one.name, extra)
		}
	}
}

func TestWhatCannotBeDoneIsRefused(t *testing.T) {
	for said, params := range map[string]map[string]any{
		"pause is 7; give 0, 6 or 100":       {"pause": uint64(7)},
		"workers is 1001; give at most 1000": {"workers": uint64(1001)},
	} {
		if _, err := encodings[0].perform(request(params)); err == nil || err.Error() != said {
			t.Error(err)
		}
	}
}

// settled is the number of goroutines once those that gave their result have ended too.
func settled() int {
	least := runtime.NumGoroutine()
	for i := 0; i < 5; i++ {
		time.Sleep(time.Millisecond)
		least = min(least, runtime.NumGoroutine())
	}
	return least
}

// goroutines is the most that were there while builtins were called, beyond those that were there before.
func goroutines(one encoding) (most int) {
	before := settled()
	functions := map[string]builtin{}
	for name, function := range synchronous {
		name, function := name, function
		functions[name] = function
		synchronous[name] = func(arguments []value) value {
			if runtime.NumGoroutine() > before+most {
				most = max(most, settled()-before)
			}
			return function(arguments)
		}
	}
	defer func() {
		for name, function := range functions {
			synchronous[name] = function
		}
	}()
	one.request(parsed(), &pauses{0, nil}, false, nil)()
	return most
}

func TestOnlyTasksAndGreenRequestsAreGoroutines(t *testing.T) {
	// A builtin is called by a node that at most seven others wait for.
	for name, most := range map[string]int{"sync": 0, "green": 1, "task": 7, "union": 0} {
		for _, one := range encodings {
			if one.name != name {
				continue
			}
			if got := goroutines(one); got != most || one.createsTask != (most > 0) {
				t.Errorf("%s: %d goroutines, creates_task %v", name, got, one.createsTask)
			}
		}
	}
}

// outputs is what every encoding gives for a program in which every element of a list suspends.
func outputs(text string) (said []string) {
	for _, one := range encodings {
		w := &worker{right: []byte("right")}
		w.judged(one.request(parse(text), &pauses{1, runtime.Gosched}, false, nil)())
		said = append(said, w.wrong.Error())
	}
	return said
}

func TestSemanticsAreTheSameInEveryEncoding(t *testing.T) {
	each := func(body string) string {
		return `["call","List::map",[["call","Int::range",[["int",1],["int",3]]],["lambda",["i"],` + body + `]]]`
	}
	ones := each(`["int",1]`)
	for text, right := range map[string]string{
		`["bin","Int::%",["int",7],["int",0]]`: `"0"`,
		`["var","a"]`:                          "an error: no variable a",
		`["call","Int::none",[]]`:              "an error: no function Int::none",
		// The error of an argument is the call's, whether the function is there or not.
		`["call","Int::none",[["var","a"]]]`:     "an error: no variable a",
		`["if",["int",1],["int",2],["int",3]]`:   "an error: a condition must be a boolean",
		`["if",["var","a"],["int",2],["int",3]]`: "an error: no variable a",
		`["lambda",["i"],["int",1]]`:             "a lambda",
		// A binding alters no environment: the inner `a` is gone behind its body.
		`["let","a",["int",1],["let","b",["let","a",["int",2],["var","a"]],["var","a"]]]`: `"1"`,
		// A lambda has the environment in which it was written.
		`["let","a",["int",5],["let","f",["lambda",["i"],["var","a"]],["let","a",["int",6],` +
			`["call","List::map",[["call","Int::range",[["int",1],["int",2]]],["var","f"]]]]]]`: `"[5,5]"`,
		each(`["var","i"]`): `"[1,2,3]"`,
		// The first error of a list is the map's.
		each(`["if",["bin","Int::==",["var","i"],["int",1]],["int",0],["var","c"]]`): "an error: no variable c",
		each(each(`["bin","Int::%",["var","i"],["int",2]]`)):                         `"[[1,0,1],[1,0,1],[1,0,1]]"`,
		`["bin","Int::%",["var","a"],["int",1]]`:                                     "an error: no variable a",
		`["bin","Int::%",["int",1],["var","a"]]`:                                     "an error: no variable a",
		// What suspends may stand in every place.
		`["let","a",` + ones + `,["var","a"]]`:                           `"[1,1,1]"`,
		`["let","a",` + ones + `,` + each(`["var","a"]`) + `]`:           `"[[1,1,1],[1,1,1],[1,1,1]]"`,
		`["call","List::map",[` + ones + `,["lambda",["i"],["int",2]]]]`: `"[2,2,2]"`,
		`["bin","Int::%",` + ones + `,["int",2]]`:                        "an error: Int::% needs two integers",
		`["bin","Int::%",["int",2],` + ones + `]`:                        "an error: Int::% needs two integers",
		`["if",` + ones + `,["int",1],["int",2]]`:                        "an error: a condition must be a boolean",
		`["call","List::map",[["int",1],["lambda",["i"],["int",2]]]]`:    "an error: List::map needs a list and a lambda of one parameter",
	} {
		for i, said := range outputs(text) {
			if !strings.HasSuffix(said, right) && !strings.Contains(said, right+", right is") {
				t.Errorf("%s %s: %s", encodings[i].name, text, said)
			}
		}
	}
}

// differing says in what the counts of six requests with six pauses each differ from the right ones.
func differing(t *testing.T, request func(of *term, p *pauses, linked bool, c *count) func() value) map[string]any {
	t.Helper()
	extra, differ := performed(t, encoding{name: "broken", request: request}, map[string]any{"pause": uint64(6)}), map[string]any{}
	for name, right := range counts(6) {
		if extra[name] != right {
			differ[name] = extra[name]
		}
	}
	return differ
}

// overTasks is an encoding with another List::map.
func overTasks(list func(arguments []value) value) func(*term, *pauses, bool, *count) func() value {
	return func(of *term, p *pauses, linked bool, c *count) func() value {
		tree := newTaskTree(p, linked)
		tree.functions["List::map"] = list
		root := tree.counting(c).node(of)
		return func() value { return root.eval(nil) }
	}
}

func overUnion(list func(arguments []value) result) func(*term, *pauses, bool, *count) func() value {
	return func(of *term, p *pauses, linked bool, c *count) func() value {
		tree := newUnionTree(p, linked)
		tree.functions["List::map"] = list
		root := tree.counting(c).node(of)
		return func() value { return root.eval(nil).wait() }
	}
}

func TestNoMistakeIsNone(t *testing.T) {
	for _, request := range []func(*term, *pauses, bool, *count) func() value{overTasks(syncMap), overUnion(unionMap)} {
		if differ := differing(t, request); len(differ) > 0 {
			t.Error(differ)
		}
	}
}

func TestTwoElementsAtATimeAreSeenInTheOrder(t *testing.T) {
	differ := differing(t, overTasks(func(arguments []value) value {
		list, lambda, _ := mapped[applier](arguments)
		values := make([]value, len(list))
		for i := 0; i < len(list); i += 2 {
			first, both := i, make(chan bool)
			go func() {
				values[first] = lambda.apply(list[first])
				both <- true
			}()
			values[i+1] = lambda.apply(list[i+1])
			<-both
		}
		return listed(values)
	}))
	if differ["order"] == nil {
		t.Error(differ)
	}
}

func TestASwallowedPendingValueIsSeen(t *testing.T) {
	differ := differing(t, overUnion(func(arguments []value) result {
		list, lambda, _ := mapped[unionApplier](arguments)
		values := make([]value, len(list))
		for i, element := range list {
			one := lambda.apply(element)
			if one.pending != nil {
				one = lambda.(countedUnionApplier).unionApplier.(*unionLambda).body(element)
			}
			values[i] = one.value
		}
		return result{value: listed(values)}
	}))
	// At least: what is pending is evaluated all the same, by its goroutine, and its body is not awaited twice.
	if differ["consumed_twice"] != uint64(6*6) || differ["order"] == nil {
		t.Error(differ)
	}
}

func TestAResultThatIsUsedTwiceIsSeen(t *testing.T) {
	differ := differing(t, overUnion(func(arguments []value) result {
		list, lambda, _ := mapped[unionApplier](arguments)
		values := make([]value, len(list))
		for i, element := range list {
			one := lambda.apply(element)
			values[i] = one.wait()
			if element == int64(30) {
				one.wait()
			}
		}
		return result{value: listed(values)}
	}))
	if !reflect.DeepEqual(differ, map[string]any{"consumed_twice": uint64(6)}) {
		t.Error(differ)
	}
}

func TestAWrongOutputSaysWhere(t *testing.T) {
	w := &worker{right: []byte("[1,3]")}
	right := `a request's output differs from byte 3 on: "2,3]", right is "3]" (7 bytes, right are 5)`
	if w.judged([]value{int64(1), int64(2), int64(3)}) != 0 || w.wrong.Error() != right {
		t.Error(w.wrong)
	}
	if w.judged([]value{int64(1), int64(3)}) != 1 {
		t.Error("what is right is not")
	}
}
