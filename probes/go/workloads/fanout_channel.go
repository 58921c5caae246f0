package workloads

import "taskscale/sdk"

// channel has each task send its result into a buffered channel. With a window, a task is started whenever a result has
// been received.
func channel(p *plan) iteration {
	start := kinds[sender]{plain: goSend, spun: goSpinSend, counted: goCountedSend}.of(p)
	return func(phases *sdk.Phases) uint64 {
		results := make(chan uint64, p.window)
		sum := start(p, results)
		phases.Created()
		for n := 0; n < p.window; n++ {
			sum += <-results
		}
		return sum
	}
}

// sender starts all tasks, and returns the sum of those results that it had to wait for before it could.
type sender func(p *plan, results chan uint64) (sum uint64)

func goSend(p *plan, results chan uint64) (sum uint64) {
	size, window := p.size, p.window
	for i := 0; i < window; i++ {
		i := i
		go func() { results <- product(i) }()
	}
	for i := window; i < size; i++ {
		i := i
		sum += <-results
		go func() { results <- product(i) }()
	}
	return sum
}

func goSpinSend(p *plan, results chan uint64) (sum uint64) {
	size, window, seed, work := p.size, p.window, p.seed, p.work
	for i := 0; i < window; i++ {
		i := i
		go func() { results <- spin(seed+uint64(i), work) }()
	}
	for i := window; i < size; i++ {
		i := i
		sum += <-results
		go func() { results <- spin(seed+uint64(i), work) }()
	}
	return sum
}

func goCountedSend(p *plan, results chan uint64) (sum uint64) {
	for i := 0; i < p.size; i++ {
		i := i
		if i >= p.window {
			sum += <-results
		}
		p.count.created()
		go func() { results <- p.counted(i) }()
	}
	return sum
}
