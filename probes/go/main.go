// Command probe performs taskscale's workloads on Go's goroutines, and times them: `probe go`, on standard input and
// output.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"taskscale/sdk"
	"taskscale/workloads"
)

func main() {
	if len(os.Args) != 2 || os.Args[1] != "go" {
		sdk.ServeMissing(fmt.Sprintf("this probe knows the runtime go, not %q", os.Args[1:]), "start it as `probe go`")
		return
	}
	workloads.Declare()
	sdk.Serve("go", strings.TrimPrefix(runtime.Version(), "go"))
}
