//go:build !go1.25

package workloads

import (
	"runtime"

	"taskscale/sdk"
)

var waitGroupGoOptions = []sdk.Option{sdk.Unavailable(
	"needs Go 1.25 or later, this is "+runtime.Version(), "name a newer one: --runtime go@PATH",
)}

func waitGroupGo(*plan) iteration { return nil }

func nopWaitGroupGo(int, *count, *sdk.Phases) {}
