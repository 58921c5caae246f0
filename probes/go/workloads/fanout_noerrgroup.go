//go:build noerrgroup

package workloads

import "taskscale/sdk"

var errGroupOptions = []sdk.Option{sdk.Unavailable(
	"needs golang.org/x/sync, which could not be had when the probe was built",
	"build it again with a network: taskscale setup go",
)}

func errGroup(*plan) iteration { return nil }

func nopErrGroup(int, *count, *sdk.Phases) {}
