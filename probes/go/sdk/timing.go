package sdk

// Timing is what a timed run brought: times in nanoseconds, and the sum of the iterations' answers modulo 2^64.
type Timing struct {
	WallNs int64          `json:"wall_ns"`
	CPUNs  int64          `json:"cpu_ns"`
	Answer uint64         `json:"answer"`
	Extra  map[string]any `json:"extra,omitempty"`
}

// Time times run.Iterations calls of one, which does the workload once and returns its answer. One pair of clock
// readings lies around all of them, and nothing inside that a hand-written loop would not have. The wall clock is read
// outermost, so that CPU time never exceeds wall time times cores.
func (run *Run) Time(one func(phases *Phases) (answer uint64)) Timing {
	phases := &Phases{on: run.Phases}
	wall, cpu := wallNs(), cpuNs()
	answer := uint64(0)
	for n := uint64(0); n < run.Iterations; n++ {
		phases.begin()
		answer += one(phases)
		phases.end()
	}
	cpuEnd, wallEnd := cpuNs(), wallNs()
	return Timing{wallEnd - wall, cpuEnd - cpu, answer, phases.extra()}
}

// Phases tells the share of creation, summed over iterations. Reads no clock unless the request asks for phases.
type Phases struct {
	on, marked, told                   bool
	wallBegun, cpuBegun, wallAt, cpuAt int64
	wallSum, cpuSum                    int64
}

// Created says that the last task has just been started. Called more than once in an iteration (a windowed workload
// starts tasks until near its end), the last call counts.
func (p *Phases) Created() {
	if p.on {
		p.marked, p.wallAt, p.cpuAt = true, wallNs(), cpuNs()
	}
}

func (p *Phases) begin() {
	if p.on {
		p.marked, p.wallBegun, p.cpuBegun = false, wallNs(), cpuNs()
	}
}

func (p *Phases) end() {
	if p.marked {
		p.told, p.wallSum, p.cpuSum = true, p.wallSum+p.wallAt-p.wallBegun, p.cpuSum+p.cpuAt-p.cpuBegun
	}
}

func (p *Phases) extra() map[string]any {
	if !p.told {
		return map[string]any{}
	}
	return map[string]any{"create_wall_ns": p.wallSum, "create_cpu_ns": p.cpuSum}
}
