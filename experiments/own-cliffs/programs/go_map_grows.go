// Control, nasty: a map of strings to pointers that grows from empty to n, with the collector.
package main

import (
	"strconv"

	"taskscale/sdk"
)

type user struct {
	name  string
	next  *user
	score uint64
}

func build(n int) uint64 {
	users := map[string]*user{}
	var last *user
	for i := range n {
		last = &user{name: "user" + strconv.Itoa(i*7919), next: last, score: uint64(i)}
		users[last.name] = last
	}
	var sum uint64
	for _, u := range users {
		sum += u.score
	}
	return sum + 1
}

func main() {
	sdk.Variant("build", "map", func(run *sdk.Run) (sdk.Timing, error) {
		return run.Time(func(_ *sdk.Phases) uint64 { return build(int(run.Size)) }), nil
	}, sdk.CreatesTask(false))
	sdk.Serve("go_map_grows", "1")
}
