package sdk

import (
	"fmt"
	"runtime"
)

const protocol = 1

type workload struct {
	Name     string     `json:"name"`
	Params   []*param   `json:"params"`
	Variants []*variant `json:"variants"`
}

type param struct {
	Name    string   `json:"name"`
	Default any      `json:"default"`
	Choices []string `json:"choices"`
	Help    string   `json:"help"`
}

type variant struct {
	Name        string            `json:"name"`
	CreatesTask bool              `json:"creates_task"`
	Only        map[string][]any  `json:"only,omitempty"`
	MaxSize     uint64            `json:"max_size,omitempty"`
	Unavailable map[string]string `json:"unavailable,omitempty"`
	Note        string            `json:"note,omitempty"`
	perform     func(*Run) (Timing, error)
}

// What Param and Variant declared, in that order.
var workloads []*workload

// Option says more of a variant.
type Option func(*variant)

// CreatesTask says whether each unit is a task that the scheduler sees. It is true unless said otherwise.
func CreatesTask(yes bool) Option { return func(v *variant) { v.CreatesTask = yes } }

// Only limits a parameter to some of its values. The first is what an absent value means here, unless the workload's
// default is among them.
func Only(param string, values ...any) Option {
	return func(v *variant) {
		for _, value := range values {
			v.Only[param] = append(v.Only[param], unsigned(value))
		}
	}
}

// MaxSize says what size the variant can bear at most; the Note should say why.
func MaxSize(size uint64) Option { return func(v *variant) { v.MaxSize = size } }

// Unavailable says why the variant is not to be had in this toolchain, and what to do.
func Unavailable(reason, remedy string) Option {
	return func(v *variant) { v.Unavailable = map[string]string{"reason": reason, "remedy": remedy} }
}

// Note adds one line for people.
func Note(note string) Option { return func(v *variant) { v.Note = note } }

// Variant declares a way of doing a workload: perform takes a request and returns what run.Time gave.
func Variant(workload, name string, perform func(run *Run) (Timing, error), options ...Option) {
	made := &variant{Name: name, CreatesTask: true, Only: map[string][]any{}, perform: perform}
	for _, option := range options {
		option(made)
	}
	declared := declare(workload)
	declared.Variants = append(declared.Variants, made)
}

// Param declares a parameter of a workload. The type of its default is its type: a bool, a non-negative integer, or a
// word, which is one of choices.
func Param(workload, name string, byDefault any, help string, choices ...string) {
	declared := declare(workload)
	made := &param{name, unsigned(byDefault), append([]string{}, choices...), help}
	declared.Params = append(declared.Params, made)
}

func declare(name string) *workload {
	for _, one := range workloads {
		if one.Name == name {
			return one
		}
	}
	workloads = append(workloads, &workload{Name: name, Params: []*param{}})
	return workloads[len(workloads)-1]
}

// unsigned has all integers be of the one type that requests are read into.
func unsigned(value any) any {
	if number, is := value.(int); is {
		return uint64(number)
	}
	return value
}

// wakeMs is how long a process works before its figures are those of one that never paused. While all Ps are idle the monitor
// thread (sysmon) sleeps; after that it looks every 20 us at first, then ever more seldom up to 10 ms, and on one CPU each look
// interrupts the goroutines: 45 to 60 looks and 2.5 ms in the first 20 ms (experiments/harnesses/go/waiting).
const wakeMs = 25

// description is the reply to describe. Measures the clocks' resolution, which takes about a millisecond.
func description(name, version string) any {
	toolchain := fmt.Sprintf("%s %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return map[string]any{
		"type": "description", "protocol": protocol, "workloads": workloads, "workers": runtime.GOMAXPROCS(0),
		"runtime": map[string]string{"name": name, "language": "go", "version": version, "toolchain": toolchain},
		"clock":   map[string]int64{"wall_resolution_ns": resolutionNs(wallNs), "cpu_resolution_ns": resolutionNs(cpuNs)},
		"wake_ms": wakeMs,
	}
}
