package sdk

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"
)

// served gives the replies of a probe with the workload sum to these lines.
func served(t *testing.T, lines string) (replies []map[string]any) {
	t.Helper()
	workloads = nil
	Param("sum", "by", 1, "how much")
	Param("sum", "way", "up", "which way", "up", "down")
	Variant("sum", "double", func(run *Run) (Timing, error) {
		return run.Time(func(phases *Phases) uint64 { phases.Created(); return 2 * run.Size }), nil
	})
	Variant("sum", "grown", func(run *Run) (Timing, error) {
		return run.Time(func(*Phases) uint64 { return run.Integer("by") }), nil
	}, Only("by", 5, 7), MaxSize(9), Note("why"))
	Variant("sum", "panics", func(*Run) (Timing, error) { panic("at sea") })
	Variant("sum", "fails", func(*Run) (Timing, error) { return Timing{}, errors.New("on land") })
	Variant("sum", "mistaken", func(run *Run) (Timing, error) { return Timing{Answer: run.Integer("way")}, nil })
	Variant("sum", "gone", nil, Unavailable("needs more", "get more"))
	for _, line := range strings.Split(lines, "\n") {
		text, err := json.Marshal(reply([]byte(line), "mine", "1.0"))
		said := map[string]any{}
		if err != nil || json.Unmarshal(text, &said) != nil {
			t.Fatal(string(text), err)
		}
		replies = append(replies, said)
	}
	return replies
}

func asked(t *testing.T, variant, params string) map[string]any {
	t.Helper()
	replies := served(t, `{"type":"run","id":3,"workload":"sum","variant":"`+variant+`","size":4,"iterations":3,"seed":1,"params":`+params+`,"new":0}`)
	if len(replies) != 1 {
		t.Fatalf("%d replies to one line", len(replies))
	}
	return replies[0]
}

func TestIterationsAreSummedAndTheIDIsEchoed(t *testing.T) {
	if sample := asked(t, "double", "{}"); sample["answer"] != 24.0 || sample["id"] != 3.0 || sample["extra"] != nil {
		t.Error(sample)
	}
}

func TestWhatIsSetUpUntimedIsMadeAnewAndToldBeside(t *testing.T) {
	run, made := &Run{Iterations: 3}, uint64(0)
	setup := func() uint64 {
		time.Sleep(3 * time.Millisecond)
		made += 10
		return made
	}
	var ended uint64
	timing := TimeEach(run, setup, func(_ *Phases, made uint64) uint64 { return made }, func(made uint64) { ended += made }, nil)
	if ended != 60 || timing.Answer != 60 || timing.WallNs <= 0 {
		t.Error(timing)
	}
	if setup := timing.Extra["setup_wall_ns"].(int64); setup < 9e6 {
		t.Error("three times 3 ms are", setup, "ns")
	}
}

func TestPhasesAreTold(t *testing.T) {
	extra, _ := asked(t, "double", `{"phases":true}`)["extra"].(map[string]any)
	if _, told := extra["create_wall_ns"]; !told {
		t.Error(extra)
	}
	if extra := asked(t, "grown", `{"phases":true}`)["extra"]; extra != nil {
		t.Error("a variant that tells no creation has", extra)
	}
}

func TestAnAbsentParameterTakesItsDefaultOrTheFirstValueThatTheVariantAllows(t *testing.T) {
	for params, answer := range map[string]float64{"{}": 15, `{"by":7}`: 21} {
		if sample := asked(t, "grown", params); sample["answer"] != answer {
			t.Error(params, sample)
		}
	}
}

func TestWhatCannotBeDoneIsRefused(t *testing.T) {
	for _, one := range []struct{ variant, message string }{
		{"triple", `unknown variant "triple"; known here: double grown panics fails mistaken gone`},
		{"panics", "at sea"},
		{"fails", "on land"},
		{"mistaken", "reflect.Value.Convert: value of type string cannot be converted to type uint64"},
	} {
		if reply := asked(t, one.variant, "{}"); reply["type"] != "error" || reply["message"] != one.message {
			t.Errorf("%s: %v", one.variant, reply["message"])
		}
	}
	// The tool sends none of these; whoever types them is told something all the same.
	for _, params := range []string{"[]", "7", `"x"`} {
		if reply := asked(t, "double", params); reply["type"] != "error" {
			t.Errorf("%s: %v", params, reply)
		}
	}
	if reply := asked(t, "gone", "{}"); reply["type"] != "error" {
		t.Error(reply)
	}
}

func TestJunkGetsOneErrorPerLine(t *testing.T) {
	junk := []string{"", "hello", "[1]", "null", `{"type":"run`, `{"type":"\xff"}`, strings.Repeat("[", 50_000), "{}", `{"type":7}`, `{"type":"dance"}`}
	for i, reply := range served(t, strings.Join(junk, "\n")) {
		if reply["type"] != "error" {
			t.Errorf("%q got %v", junk[i], reply)
		}
	}
}

func TestAnotherProtocolIsNamedBesideOurs(t *testing.T) {
	reply := served(t, `{"type":"describe","protocol":2}`)[0]
	if reply["protocol"] != 1.0 || !strings.Contains(reply["message"].(string), "protocol 2") {
		t.Error(reply)
	}
}

func TestNothingIsSaidToExit(t *testing.T) {
	if said := reply([]byte(`{"type":"exit"}`), "mine", "1.0"); said != nil {
		t.Error(said)
	}
}

func TestClocksMoveForwardAndShowTheirSteps(t *testing.T) {
	for _, clock := range []func() int64{wallNs, cpuNs} {
		before := clock()
		if resolutionNs(clock) <= 0 || clock() <= before {
			t.Error("a clock stands still")
		}
	}
}

func TestAFunctionOfGoTestIsPerformedAsItIs(t *testing.T) {
	run, done := &Run{Iterations: 5}, 0
	timing, err := run.Benchmark(func(b *testing.B) {
		for i := 0; i < b.N; i++ {
			done++
		}
	})
	if err != nil || done != 5 || timing.Answer != 5 {
		t.Error(timing, done, err)
	}
	if _, err := run.Benchmark(func(b *testing.B) { b.Fatal("no") }); err == nil {
		t.Error("a failure is an error")
	}
}

// spin uses that much CPU time, however busy the machine is.
func spin(ms int64) {
	for begun := cpuNs(); cpuNs()-begun < ms*1e6; {
	}
}

// spun is a benchmark that prepares for 20 ms, is made ready, and loops for so many milliseconds.
func spun(ms int64, ready func(b *testing.B)) func(b *testing.B) {
	return func(b *testing.B) {
		spin(20)
		ready(b)
		for i := 0; i < b.N; i++ {
			spin(ms)
		}
	}
}

func TestWhatABenchmarkLeavesUntimedIsNotTakenForItsLoop(t *testing.T) {
	run := &Run{Iterations: 3}
	// Next to nothing is timed: the timer tells wall time, and on a busy machine that of 20 ms of work may exceed all CPU time.
	for name, function := range map[string]func(b *testing.B){
		"b.ResetTimer": spun(0, (*testing.B).ResetTimer),
		"b.StopTimer":  func(b *testing.B) { b.StopTimer(); spun(0, (*testing.B).StartTimer)(b) },
	} {
		_, err := run.Benchmark(function)
		if err == nil || !strings.Contains(err.Error(), "use sdk.TimeEach, or prepare before run.Benchmark") {
			t.Error(name, err)
		}
	}
	// All of it counts, as it does where go test runs it.
	timing, err := run.Benchmark(spun(1, func(*testing.B) {}))
	if err != nil || timing.Answer != 3 || timing.CPUNs < 43e6 {
		t.Error(timing, err)
	}
}

func TestASmallPartThatABenchmarkLeavesUntimedIsNoMatter(t *testing.T) {
	timing, err := (&Run{Iterations: 2}).Benchmark(spun(300, (*testing.B).ResetTimer))
	if err != nil || timing.Answer != 2 {
		t.Error(timing, err)
	}
	// Neither is waiting that a busy machine brings, nor what testing does where the timer is stopped.
	timing, err = (&Run{Iterations: 1}).Benchmark(func(b *testing.B) {
		time.Sleep(20 * time.Millisecond)
		b.StopTimer()
		b.StartTimer()
		b.ResetTimer()
		spin(1)
	})
	if err != nil {
		t.Error(timing, err)
	}
}

func TestAPanicIsToldWithItsPlaceInTheUsersFileAndARefusalHasNone(t *testing.T) {
	t.Setenv("TASKSCALE_PROBE_FILE", "serve_test.go")
	if said := asked(t, "panics", "{}")["message"].(string); !regexp.MustCompile(`^serve_test\.go:\d+: at sea$`).MatchString(said) {
		t.Error(said)
	}
	// The loop is called from this file too.
	if said := asked(t, "triple", "{}")["message"].(string); !strings.HasPrefix(said, "unknown variant") {
		t.Error(said)
	}
}
