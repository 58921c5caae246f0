package interp

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"

	"taskscale/sdk"
)

// The words of mode that ask for a server.
const httpClosed, httpOpen = "http-closed", "http-open"

func served(run *sdk.Run) bool { return run.Word("mode") == httpClosed || run.Word("mode") == httpOpen }

// serve is a server of net/http until the tool says stop. Each GET has answer make one request, which gives what is
// wrong with its output; right is the body of the response.
func serve(run *sdk.Run, right []byte, answer func() error) (sdk.Timing, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return sdk.Timing{}, fmt.Errorf("a server on 127.0.0.1 cannot be started: %w", err)
	}
	var answered atomic.Uint64
	var once sync.Once
	var wrong error
	server := &http.Server{Handler: http.HandlerFunc(func(to http.ResponseWriter, _ *http.Request) {
		if err := answer(); err != nil {
			once.Do(func() { wrong = err })
			http.Error(to, err.Error(), http.StatusInternalServerError)
			return
		}
		answered.Add(1)
		to.Write(right)
	})}
	go server.Serve(listener)
	defer server.Close()
	sdk.Replies.Encode(map[string]any{"type": "serving", "id": run.ID, "port": listener.Addr().(*net.TCPAddr).Port, "server": "net/http " + runtime.Version()})
	if err := await("begin"); err != nil {
		return sdk.Timing{}, err
	}
	answered.Store(0)
	single := *run
	single.Iterations = 1
	timing := single.Time(func(*sdk.Phases) uint64 {
		sdk.Replies.Encode(map[string]any{"type": "began", "id": run.ID})
		err = await("stop")
		return answered.Load()
	})
	once.Do(func() {})
	if wrong != nil {
		err = wrong
	}
	return timing, err
}

// await waits for the tool to say kind.
func await(kind string) error {
	for {
		if !sdk.Lines.Scan() {
			return io.ErrUnexpectedEOF
		}
		var said struct{ Type string }
		json.Unmarshal(sdk.Lines.Bytes(), &said) // what is no request is of no type
		if said.Type == kind {
			return nil
		}
		sdk.Replies.Encode(map[string]any{"type": "error", "message": "a server is running: say begin or stop"})
	}
}

// constant answers the right bytes without evaluating.
func constant(run *sdk.Run) (sdk.Timing, error) {
	right := output()
	if run.Integer("depth") > 0 {
		right = []byte("1")
	}
	return serve(run, right, func() error { return nil })
}
