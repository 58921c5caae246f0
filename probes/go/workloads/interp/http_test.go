package interp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"taskscale/sdk"
)

// The test runs itself again as a probe, since a server needs the tool's lines on standard input.
func TestMain(m *testing.M) {
	if os.Getenv("TASKSCALE_TEST_PROBE") != "" {
		Declare()
		sdk.Serve("go", "test")
		return
	}
	os.Exit(m.Run())
}

func TestAServerAnswersTheRightBytesAndCountsThemSinceBegin(t *testing.T) {
	probe := startProbe(t)
	for _, name := range []string{"sync", "green", "task", "union", "constant"} {
		for _, verify := range []bool{false, true} {
			said := probe.ask(map[string]any{"type": "run", "id": 5, "workload": "interp", "variant": name, "size": 3,
				"iterations": 1, "seed": 1, "params": map[string]any{"mode": httpOpen, "pause": 6, "verify": verify}})
			if said["type"] != "serving" || !strings.HasPrefix(said["server"].(string), "net/http go") {
				t.Fatal(name, said)
			}
			if refused := probe.ask(map[string]any{"type": "describe", "protocol": 1}); refused["type"] != "error" {
				t.Fatal(name, refused)
			}
			if !verify {
				get(t, said["port"])
			}
			if said := probe.ask(map[string]any{"type": "begin", "id": 5}); said["type"] != "began" {
				t.Fatal(name, said)
			}
			for n := 0; n < 3; n++ {
				if length, body := get(t, said["port"]); length != 614 || body != string(output()) {
					t.Fatal(name, length, body)
				}
			}
			sample := probe.ask(map[string]any{"type": "stop", "id": 5})
			if sample["answer"] != 3.0 || sample["id"] != 5.0 || sample["cpu_ns"].(float64) <= 0 {
				t.Fatal(name, sample)
			}
			extra, counts := sample["extra"].(map[string]any)
			if counts != (verify && name != "constant") {
				t.Fatal(name, sample)
			}
			if counts && (extra["nodes"] != 3*1804.0 || extra["order"] != rightOrder || extra["suspended"] != 18.0) {
				t.Fatal(name, extra)
			}
		}
	}
}

func TestAWrongOutputIsToldInTheResponse(t *testing.T) {
	w := &worker{right: []byte("[1]"), request: func() value { return []value{} }}
	if err := w.answer(); err == nil || !strings.Contains(err.Error(), "differs from byte 1 on") {
		t.Fatal(err)
	}
	if w.wrong != nil {
		t.Fatal("an answer on any goroutine keeps nothing in the worker")
	}
}

func get(t *testing.T, port any) (length int64, body string) {
	t.Helper()
	response, err := http.Get(address(port))
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatal(response, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.ContentLength, string(text)
}

func address(port any) string { return fmt.Sprintf("http://127.0.0.1:%.0f/", port) }

// probe is this test as a process that speaks the protocol.
type probe struct {
	t     *testing.T
	in    io.Writer
	lines *bufio.Scanner
}

func startProbe(t *testing.T) *probe {
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), "TASKSCALE_TEST_PROBE=1")
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := command.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &probe{t, in, bufio.NewScanner(out)}
}

func (p *probe) ask(message map[string]any) (said map[string]any) {
	p.t.Helper()
	if err := json.NewEncoder(p.in).Encode(message); err != nil {
		p.t.Fatal(err)
	}
	if !p.lines.Scan() {
		p.t.Fatal("no reply")
	}
	if err := json.Unmarshal(p.lines.Bytes(), &said); err != nil {
		p.t.Fatal(err)
	}
	return said
}
