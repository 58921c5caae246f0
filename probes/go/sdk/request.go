package sdk

import "fmt"
import "reflect"
import "slices"

// Run is what a request asks for: verify asks that every task's execution is counted by what it did, phases that the
// share of creation is told; params has a value for every declared parameter.
type Run struct {
	ID, Size, Iterations, Seed uint64
	Verify, Phases             bool
	Counters                   string         // memory, collector: which of the runtime's counters are to be read; or none
	Params                     map[string]any // a bool, a string, or a number of any type
}

// Integer is the value of a declared parameter that is an integer.
func (run *Run) Integer(name string) uint64 {
	return reflect.ValueOf(run.Params[name]).Convert(reflect.TypeOf(run.Seed)).Uint()
}

// Word is the value of a declared parameter that is a word.
func (run *Run) Word(name string) string { return run.Params[name].(string) }

// Flag is the value of a declared parameter that is a flag.
func (run *Run) Flag(name string) bool { return run.Params[name].(bool) }

// message is any request. The tool has held a run to the description before it was sent.
type message struct {
	Type, Workload, Variant string
	Protocol                any
	Run
}

// request finds what is asked for, and gives every declared parameter a value: the one given, or else the default, or where
// the variant excludes that, the first value that it allows.
func (m *message) request() (perform func(*Run) (Timing, error), run *Run) {
	workload := known(workloads, m.Workload, "workload")
	variant := known(workload["variants"].([]object), m.Variant, "variant")
	m.Verify, m.Phases = m.Params["verify"] == true, m.Params["phases"] == true
	m.Counters, _ = m.Params["counters"].(string)
	for _, param := range workload["params"].([]object) {
		name, value := param["name"].(string), param["default"]
		if allowed, is := variant["only"].(object)[name].([]any); is && !slices.Contains(allowed, value) {
			value = allowed[0]
		}
		if _, given := m.Params[name]; !given {
			m.Params[name] = value
		}
	}
	return performs[[2]string{m.Workload, m.Variant}], &m.Run
}

// known is the one of that name; panics where there is none.
func known(all []object, name, what string) object {
	names := ""
	for _, one := range all {
		if one["name"] == name {
			return one
		}
		names += fmt.Sprint(" ", one["name"])
	}
	panic(fmt.Sprintf("unknown %s %q; known here:%s", what, name, names))
}
