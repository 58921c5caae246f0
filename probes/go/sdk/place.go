package sdk

import "fmt"
import "os"
import "path/filepath"
import "runtime"
import "runtime/debug"

// place says where in the user's own file a panic came up (my_probe.go:12), if there; then standard error has the stack.
func place() string {
	own := os.Getenv("TASKSCALE_PROBE_FILE")
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	for more := own != ""; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		more = more && frame.Function != "taskscale/sdk.reply" // what stands below it is where the loop was called
		if filepath.Base(frame.File) == own {
			os.Stderr.Write(debug.Stack())
			return fmt.Sprintf("%s:%d: ", own, frame.Line)
		}
	}
	return ""
}
