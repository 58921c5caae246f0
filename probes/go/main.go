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
		fmt.Fprintf(os.Stderr, "no runtime %q in this probe; choose go\n", os.Args[1:])
		os.Exit(2)
	}
	workloads.Declare()
	sdk.Serve("go", strings.TrimPrefix(runtime.Version(), "go"))
}
