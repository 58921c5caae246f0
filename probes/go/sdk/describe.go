package sdk

import "runtime"
import "slices"

const protocol = 1

type object = map[string]any

// What Param and Variant declared, in that order and as the description says it.
var workloads []object

// How each variant is performed, by the names of its workload and its own.
var performs = map[[2]string]func(*Run) (Timing, error){}

// Param declares a parameter of a workload. The type of its default is its type: a bool, a non-negative integer, or a
// word, which is one of choices.
func Param(workload, name string, byDefault any, help string, choices ...string) {
	declare(workload, "params", object{"name": name, "default": byDefault, "choices": append([]string{}, choices...), "help": help})
}

// Variant declares a way of doing a workload: perform takes a request and returns what run.Time gave.
func Variant(workload, name string, perform func(run *Run) (Timing, error), options ...Option) {
	made := object{"name": name, "creates_task": true, "only": object{}}
	for _, option := range options {
		option(made)
	}
	declare(workload, "variants", made)
	performs[[2]string{workload, name}] = perform
}

// Option says more of a variant.
type Option func(variant object)

// CreatesTask says whether each unit is a task that the scheduler sees. It is true unless said otherwise.
func CreatesTask(yes bool) Option { return with("creates_task", yes) }

// Only limits a parameter to some of its values. The first is what an absent value means here, unless the workload's
// default is among them.
func Only(param string, values ...any) Option {
	return func(v object) { v["only"].(object)[param] = values }
}

// MaxSize says what size the variant can bear at most; the Note should say why.
func MaxSize(size uint64) Option { return with("max_size", size) }

// Unavailable says why the variant is not to be had in this toolchain, and what to do.
func Unavailable(reason, remedy string) Option {
	return with("unavailable", object{"reason": reason, "remedy": remedy})
}

// Note adds one line for people.
func Note(note string) Option { return with("note", note) }

func with(name string, value any) Option { return func(v object) { v[name] = value } }

// declare adds a parameter or a variant to a workload, which the first of them makes.
func declare(workload, kind string, made object) {
	at := slices.IndexFunc(workloads, func(one object) bool { return one["name"] == workload })
	if at < 0 {
		workloads = append(workloads, object{"name": workload, "params": []object{}, "variants": []object{}})
		at = len(workloads) - 1
	}
	workloads[at][kind] = append(workloads[at][kind].([]object), made)
}

// description is the reply to describe. Measures the clocks' resolution, which takes about a millisecond.
func description(name, version string) object {
	return object{
		"type": "description", "protocol": protocol, "workloads": workloads, "workers": runtime.GOMAXPROCS(0),
		"runtime": object{"name": name, "language": "go", "version": version, "toolchain": runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH},
		"clock":   object{"wall_resolution_ns": resolutionNs(wallNs), "cpu_resolution_ns": resolutionNs(cpuNs)},
		// How long a process works before its figures are those of one that never paused. While all Ps are idle the monitor
		// thread (sysmon) sleeps; after that it looks every 20 us at first, then ever more seldom up to 10 ms, and on one CPU
		// each look interrupts the goroutines: 45 to 60 looks and 2.5 ms in the first 20 ms (experiments/harnesses/go/waiting).
		"wake_ms": 25, "counters": counted,
	}
}
