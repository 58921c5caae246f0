package sdk

// Timing is what a timed run brought: times in nanoseconds, and the sum of the iterations' answers modulo 2^64.
type Timing struct {
	WallNs, CPUNs int64
	Answer        uint64
	Extra         map[string]any
}

// Time times run.Iterations calls of one, which does the workload once and returns its answer. One pair of clock
// readings lies around all of them, and nothing inside that a hand-written loop would not have.
func (run *Run) Time(one func(phases *Phases) (answer uint64)) Timing {
	phases, answer := &Phases{on: run.Phases}, uint64(0)
	cpu, wall := cpuBeginNs(), wallNs()
	for n := uint64(0); n < run.Iterations; n++ {
		phases.begin()
		answer += one(phases)
	}
	wallEnd, cpuEnd := wallNs(), cpuEndNs()
	timing := Timing{wallEnd - wall, cpuEnd - cpu, answer, object{}}
	if phases.wall > 0 {
		timing.Extra["create_wall_ns"], timing.Extra["create_cpu_ns"] = phases.wall, phases.cpu
	}
	return timing
}

// TimeEach times of each iteration one(phases, made) alone: made is what setup gave, anew each time, and teardown, where there
// is one, ends it. What both took is told beside. Clocks are read around each iteration, for some 10 us: let one take 50 us or more.
func TimeEach[T any](run *Run, setup func() T, one func(phases *Phases, made T) (answer uint64), teardown ...func(made T)) Timing {
	phases, timing := &Phases{on: run.Phases}, Timing{Extra: object{}}
	wallBegin, cpuBegin := wallNs(), cpuNs()
	for n := uint64(0); n < run.Iterations; n++ {
		made := setup()
		cpu, wall := cpuBeginNs(), wallNs()
		phases.begin()
		timing.Answer += one(phases, made)
		timing.WallNs += wallNs() - wall
		timing.CPUNs += cpuEndNs() - cpu
		for _, end := range teardown {
			if end != nil {
				end(made)
			}
		}
	}
	timing.Extra["setup_cpu_ns"] = max(cpuNs()-cpuBegin-timing.CPUNs, 0)
	timing.Extra["setup_wall_ns"] = max(wallNs()-wallBegin-timing.WallNs, 0)
	if phases.wall > 0 {
		timing.Extra["create_wall_ns"], timing.Extra["create_cpu_ns"] = phases.wall, phases.cpu
	}
	return timing
}

// Phases tells the share of creation, summed over iterations. Reads no clock unless the request asks for phases.
type Phases struct {
	on                               bool
	wall, cpu, wallBefore, cpuBefore int64 // the sums; and what they are less the time at which the iteration began
}

// Created says that the last task has just been started. Called more than once in an iteration (a windowed workload
// starts tasks until near its end), the last call counts.
func (p *Phases) Created() {
	if p.on {
		p.wall, p.cpu = p.wallBefore+wallNs(), p.cpuBefore+cpuNs()
	}
}

func (p *Phases) begin() {
	if p.on {
		p.wallBefore, p.cpuBefore = p.wall-wallNs(), p.cpu-cpuNs()
	}
}
