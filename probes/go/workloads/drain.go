package workloads

import (
	"reflect"

	"taskscale/sdk"
)

// reflect.Select takes at most 65,536 cases.
const mostCases = 65_536

// declareDrain declares `drain`: size channels that each hold a value, received from one after the other. All are filled before
// the clock starts, so that what is timed is the price of a completion among many that still wait. Answer of an iteration:
// the number of values received.
func declareDrain() {
	again := sdk.Note("channels, no goroutines; asked again for those that are left: work grows with the square of the size, by design")
	sdk.Variant("drain", "reflect.Select", drain(drainSelect), sdk.CreatesTask(false), sdk.MaxSize(mostCases), again)
	sdk.Variant("drain", "receive", drain(drainEach), sdk.CreatesTask(false), sdk.Note("channels, no goroutines"))
}

// drain performs a form, which receives from all channels; filling them is not timed.
func drain(collect func(channels []chan int) uint64) func(*sdk.Run) (sdk.Timing, error) {
	return func(run *sdk.Run) (sdk.Timing, error) {
		fill := func() []chan int {
			channels := make([]chan int, run.Size)
			for i := range channels {
				channels[i] = make(chan int, 1)
				channels[i] <- i
			}
			return channels
		}
		return sdk.TimeEach(run, fill, func(_ *sdk.Phases, channels []chan int) uint64 { return collect(channels) }), nil
	}
}

// drainSelect selects from all channels that are left, again and again.
func drainSelect(channels []chan int) (received uint64) {
	cases := make([]reflect.SelectCase, len(channels))
	for i, channel := range channels {
		cases[i] = reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(channel)}
	}
	for len(cases) > 0 {
		chosen, _, _ := reflect.Select(cases)
		cases[chosen] = cases[len(cases)-1]
		cases = cases[:len(cases)-1]
		received++
	}
	return received
}

// drainEach receives from each channel in turn.
func drainEach(channels []chan int) (received uint64) {
	for _, channel := range channels {
		<-channel
		received++
	}
	return received
}
