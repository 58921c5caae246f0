package sdk

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"unicode/utf8"
)

// The longest line that is read, in bytes; a request of ours has about 200. The rest of a longer one is skipped, so that
// junk cannot fill the memory.
const maxLine = 1 << 20

// Serve serves the declared workloads as runtime name until standard input ends or says exit. Ends the process with
// status 1 where a pipe fails.
func Serve(name, version string) { serve(answers(name, version)) }

func answers(name, version string) func(message) any {
	return func(request message) any {
		switch kind := request.text("type"); kind {
		case "describe":
			return describe(request, name, version)
		case "run":
			return run(request)
		default:
			return failed("unknown request type %q; known here: describe, run, exit", kind)
		}
	}
}

// ServeMissing answers every request with an error that says what is not here, and what to do.
func ServeMissing(reason, remedy string) {
	serve(func(message) any {
		return map[string]any{"type": "error", "message": reason, "missing": true, "remedy": remedy}
	})
}

func serve(answer func(message) any) {
	output := os.Stdout
	os.Stdout = os.Stderr          // whatever a workload prints must not get between the replies
	signal.Ignore(syscall.SIGPIPE) // a closed pipe is an error to be told, not a death
	if err := loop(os.Stdin, output, answer); err != nil {
		fmt.Fprintln(os.Stderr, "probe: standard input or output failed:", err)
		os.Exit(1)
	}
}

func loop(input io.Reader, output io.Writer, answer func(message) any) error {
	lines, replies := bufio.NewReaderSize(input, maxLine), json.NewEncoder(output)
	for {
		line, err := lines.ReadSlice('\n')
		tooLong := errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = lines.ReadSlice('\n')
		}
		if len(line) == 0 && err == io.EOF {
			return nil
		}
		if err != nil && err != io.EOF {
			return err
		}
		said := any(failed("the line is longer than %d bytes", maxLine))
		if !tooLong {
			if said = reply(line, answer); said == nil {
				return nil
			}
		}
		if err := replies.Encode(said); err != nil {
			return err
		}
	}
}

// reply answers a line; nil to exit.
func reply(line []byte, answer func(message) any) (said any) {
	defer func() {
		switch reason := recover().(type) {
		case nil:
		case refused:
			said = failed("%s", reason)
		default: // a mistake of this package
			panic(reason)
		}
	}()
	var request message
	if !utf8.Valid(line) {
		return failed("the line is not JSON: it is not UTF-8")
	}
	if err := json.Unmarshal(line, &request); err != nil && !errors.As(err, new(*json.UnmarshalTypeError)) {
		return failed("the line is not JSON: %v", err)
	}
	if request == nil {
		return failed("the line is not a JSON object")
	}
	if bytes.Equal(request["type"], []byte(`"exit"`)) {
		return nil
	}
	return answer(request)
}

func describe(request message, name, version string) any {
	asked := request.field("protocol")
	if string(asked) == fmt.Sprint(protocol) {
		return description(name, version)
	}
	reply := failed("the tool speaks protocol %s, this probe of %s speaks protocol %d; use a tool and a probe of one release", asked, name, protocol)
	reply["protocol"] = protocol
	return reply
}

func run(request message) any {
	chosen, run := request.request()
	timing, err := chosen.try(run)
	if err != nil {
		return failed("variant %q failed: %v", chosen.Name, err)
	}
	return struct {
		Type string `json:"type"`
		ID   uint64 `json:"id"`
		Timing
	}{"sample", run.ID, timing}
}

// try has a panic of the workload (on this goroutine: Go ends the process where another one panics) be an error of this
// request only.
func (v *variant) try(run *Run) (timing Timing, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("%v", reason)
		}
	}()
	return v.perform(run)
}

func failed(format string, about ...any) map[string]any {
	return map[string]any{"type": "error", "message": fmt.Sprintf(format, about...)}
}
