//go:build !go1.23

package workloads

import (
	"io"
	"runtime"

	"taskscale/sdk"
)

var seqOptions = []sdk.Option{sdk.Unavailable(
	"needs Go 1.23 or later, this is "+runtime.Version(), "name a newer one: --runtime go@PATH",
)}

var bySeq manner[func(sum uint64, from io.Reader, buffer []byte) (uint64, error)]
