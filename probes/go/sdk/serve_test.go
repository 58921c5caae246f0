package sdk

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
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
	var output bytes.Buffer
	if err := loop(strings.NewReader(lines), &output, answers("mine", "1.0")); err != nil {
		t.Fatal(err)
	}
	for decoder := json.NewDecoder(&output); decoder.More(); {
		reply := map[string]any{}
		if err := decoder.Decode(&reply); err != nil {
			t.Fatal(err)
		}
		replies = append(replies, reply)
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
	for _, one := range []struct{ variant, params, message string }{
		{"grown", `{"by":1}`, `variant "grown" cannot be run with by 1, only with 5, 7`},
		{"double", `{"by":-1}`, "parameter by cannot be -1; it is an integer from 0 to 2^64 - 1"},
		{"double", `{"way":"left"}`, `parameter way cannot be "left"; it is one of "up", "down"`},
		{"double", `{"verify":1}`, "parameter verify cannot be 1; it is true or false"},
		{"double", `{"speed":1}`, `unknown parameter "speed"; known here: by, way`},
		{"double", `null`, "params is null, not an object"},
		{"triple", `{}`, `unknown variant "triple"; known here: double, grown, panics, fails, mistaken, gone`},
		{"panics", `{}`, `variant "panics" failed: at sea`},
		{"fails", `{}`, `variant "fails" failed: on land`},
		{"mistaken", `{}`, `variant "mistaken" failed: no parameter "way" of type uint64 is declared`},
		{"gone", `{}`, "variant gone needs more; get more"},
	} {
		if reply := asked(t, one.variant, one.params); reply["type"] != "error" || reply["message"] != one.message {
			t.Errorf("%s %s: %v", one.variant, one.params, reply["message"])
		}
	}
}

func TestALongLineIsSkippedWhole(t *testing.T) {
	replies := served(t, strings.Repeat("x", 3*maxLine)+"\n"+`{"type":"describe","protocol":1}`+"\n")
	if len(replies) != 2 || replies[0]["message"] != "the line is longer than 1048576 bytes" || replies[1]["type"] != "description" {
		t.Error(replies)
	}
}

func TestJunkGetsOneErrorPerLine(t *testing.T) {
	junk := []string{"", "hello", "[1]", "null", `{"type":"run`, `{"type":"\xff"}`, strings.Repeat("[", 50_000), "{}", `{"type":7}`}
	replies := served(t, strings.Join(junk, "\n"))
	if len(replies) != len(junk) {
		t.Fatalf("%d replies to %d lines", len(replies), len(junk))
	}
	for i, reply := range replies {
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

func TestNothingIsSaidAfterExit(t *testing.T) {
	if replies := served(t, "{\"type\":\"exit\"}\n{\"type\":\"describe\",\"protocol\":1}\n"); len(replies) != 0 {
		t.Error(replies)
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
