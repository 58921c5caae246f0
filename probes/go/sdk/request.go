package sdk

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const maxSeed uint64 = 1<<53 - 1 // every JSON reader keeps numbers exact up to here (JavaScript's do)

// Run is what a request asks for: size and iterations are at least 1; verify asks that every task's execution is counted
// by what it did, phases that the share of creation is told; params has a value for every declared parameter.
type Run struct {
	ID, Size, Iterations, Seed uint64
	Verify, Phases             bool
	Params                     map[string]any // bool, uint64 or string
}

// Integer is the value of a declared parameter that is an integer.
func (run *Run) Integer(name string) uint64 { return value[uint64](run, name) }

// Word is the value of a declared parameter that is a word.
func (run *Run) Word(name string) string { return value[string](run, name) }

// Flag is the value of a declared parameter that is a flag.
func (run *Run) Flag(name string) bool { return value[bool](run, name) }

func value[T any](run *Run, name string) T {
	found, is := run.Params[name].(T)
	if !is {
		panic(fmt.Sprintf("no parameter %q of type %T is declared", name, found))
	}
	return found
}

// refused is panicked with where a request cannot be done; serve makes it the reply's message.
type refused string

func refuse(format string, about ...any) { panic(refused(fmt.Sprintf(format, about...))) }

type message map[string]json.RawMessage

// request reads a run request and checks it against the description.
func (m message) request() (*variant, *Run) {
	declared := named(workloads, m.text("workload"), "workload", func(w *workload) string { return w.Name })
	chosen := named(declared.Variants, m.text("variant"), "variant", func(v *variant) string { return v.Name })
	run := &Run{ID: m.integer("id", 0), Size: m.integer("size", 1), Iterations: m.integer("iterations", 1), Seed: m.integer("seed", 0)}
	if chosen.MaxSize > 0 && run.Size > chosen.MaxSize {
		refuse("size %d is above %d, the most that variant %s can bear", run.Size, chosen.MaxSize, chosen.Name)
	}
	if run.Seed > maxSeed {
		refuse("seed %d is above %d (2^53 - 1)", run.Seed, maxSeed)
	}
	m.params(run, declared, chosen)
	if chosen.Unavailable != nil {
		refuse("variant %s %s; %s", chosen.Name, chosen.Unavailable["reason"], chosen.Unavailable["remedy"])
	}
	return chosen, run
}

// params reads the two reserved parameters and all declared ones, with the values given or else their defaults.
func (m message) params(run *Run, declared *workload, chosen *variant) {
	given, reserved := message{}, &param{Default: false}
	if raw, is := m["params"]; is && (json.Unmarshal(raw, &given) != nil || given == nil) {
		refuse("params is %s, not an object", raw)
	}
	run.Params = map[string]any{}
	for name, raw := range given {
		switch name {
		case "verify":
			run.Verify = reserved.read(name, raw).(bool)
		case "phases":
			run.Phases = reserved.read(name, raw).(bool)
		default:
			about := named(declared.Params, name, "parameter", func(p *param) string { return p.Name })
			run.Params[name] = about.read(name, raw)
		}
	}
	for _, about := range declared.Params {
		allowed := chosen.Only[about.Name]
		if _, is := run.Params[about.Name]; !is {
			run.Params[about.Name] = about.Default
			if len(allowed) > 0 && !slices.Contains(allowed, about.Default) {
				run.Params[about.Name] = allowed[0]
			}
		}
		if got := run.Params[about.Name]; len(allowed) > 0 && !slices.Contains(allowed, got) {
			refuse("variant %q cannot be run with %s %s, only with %s", chosen.Name, about.Name, listed(got), listed(allowed...))
		}
	}
}

// read makes raw a value of the parameter's type.
func (p *param) read(name string, raw json.RawMessage) any {
	kind := "a word"
	switch p.Default.(type) {
	case bool:
		if text := string(raw); text == "true" || text == "false" {
			return text == "true"
		}
		kind = "true or false"
	case uint64:
		if number, err := strconv.ParseUint(string(raw), 10, 64); err == nil {
			return number
		}
		kind = "an integer from 0 to 2^64 - 1"
	default:
		if word, is := text(raw); is && (len(p.Choices) == 0 || slices.Contains(p.Choices, word)) {
			return word
		}
		if len(p.Choices) > 0 {
			kind = "one of " + listed(p.Choices...)
		}
	}
	refuse("parameter %s cannot be %s; it is %s", name, raw, kind)
	return nil
}

func named[T any](all []T, name, what string, nameOf func(T) string) T {
	names := make([]string, len(all))
	for i, one := range all {
		if names[i] = nameOf(one); names[i] == name {
			return one
		}
	}
	panic(refused(fmt.Sprintf("unknown %s %q; known here: %s", what, name, strings.Join(names, ", "))))
}

func (m message) field(name string) json.RawMessage {
	if m[name] == nil {
		refuse("the request has no field %q", name)
	}
	return m[name]
}

func (m message) text(name string) string {
	word, is := text(m.field(name))
	if !is {
		refuse("%s is %s, not a string", name, m[name])
	}
	return word
}

// text is the string that raw is, where it is one: json.Unmarshal alone would take null for an empty one.
func text(raw json.RawMessage) (word string, is bool) {
	return word, raw[0] == '"' && json.Unmarshal(raw, &word) == nil
}

func (m message) integer(name string, least uint64) uint64 {
	number, err := strconv.ParseUint(string(m.field(name)), 10, 64)
	if err != nil {
		refuse("%s is %s, not an integer from 0 to 2^64 - 1", name, m[name])
	}
	if number < least {
		refuse("%s is %d; it must be at least %d", name, number, least)
	}
	return number
}

func listed[T any](values ...T) string {
	texts := make([]string, len(values))
	for i, value := range values {
		text, _ := json.Marshal(value)
		texts[i] = string(text)
	}
	return strings.Join(texts, ", ")
}
