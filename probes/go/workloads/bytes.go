package workloads

import (
	"fmt"
	"io"
	"net/http"
	"os"

	"taskscale/sdk"
)

const (
	fnvStart = 14695981039346656037
	fnvPrime = 1099511628211
)

// declareBytes declares `bytes`: a file or a response of size bytes, read from its start to its end and summed up. Answer of
// an iteration: the sum.
func declareBytes() {
	sdk.Param("bytes", "source", "file", "the file in the folder TASKSCALE_BYTES, or the response of the server "+
		"TASKSCALE_BYTES_URL", "file", "http")
	sdk.Param("bytes", "mode", "sum8", "sum8: the sum of all bytes modulo 256; fnv: FNV-1a of 64 bits; none: bytes are fetched "+
		"and not looked at", "sum8", "fnv", "none")
	sdk.Param("bytes", "chunk", 65536, "bytes of the buffer, of variants that read into one")
	const response = "http: the body of a response of net/http"
	const whole = "all bytes in one slice"
	both, file, buffer := sdk.Only("source", "file", "http"), sdk.Only("source", "file"), sdk.Only("chunk", 65536)
	sums, none := sdk.Only("mode", "sum8", "fnv"), sdk.Only("mode", "none")
	for _, one := range []struct {
		name    string
		way     way
		note    string
		options []sdk.Option
	}{
		{"os.ReadFile/range", slices(readFile, byRange), whole, []sdk.Option{file, buffer, sums}},
		{"os.ReadFile/index", slices(readFile, byIndex), whole, []sdk.Option{file, buffer, sums}},
		{"io.ReadAll/range", slices(readAll, byRange), "a slice that grows; " + response, []sdk.Option{both, buffer, sums}},
		{"Read/range", slices(readChunks, byRange), "one buffer; " + response, []sdk.Option{both, sums}},
		{"Read/none", slices(readChunks, byNone), "the floor: what Read/range has before it looks; " + response,
			[]sdk.Option{both, none}},
		{"Read/iter.Seq", iterated, "an iterator over bytes, which reads into one buffer; " + response,
			append([]sdk.Option{both, sums}, seqOptions...)},
		{"io.Copy/Write", copied, "fnv: hash/fnv; sum8: a writer of the probe; io.Copy has a buffer of 32 KiB; " + response,
			[]sdk.Option{both, buffer, sums}},
		{"syscall.Mmap/range", slices(mapped, byRange), "the file in the memory of the process", []sdk.Option{file, buffer, sums}},
		{"bufio/ReadByte", called, "bufio.NewReader, whose buffer has 4 KiB; " + response, []sdk.Option{both, buffer, sums}},
		{"channel/range", slices(sent, byRange), "a goroutine reads, and sends a slice of its own for each chunk; " + response,
			[]sdk.Option{both, sums}},
	} {
		options := append([]sdk.Option{sdk.CreatesTask(false), sdk.Note(one.note)}, one.options...)
		sdk.Variant("bytes", one.name, summed(one.way), options...)
	}
}

// pass reads a source once and gives the sum, of which the lower bits may be all that counts.
type pass func(from *source, chunk int) (uint64, error)

// way makes a pass for a mode; with a counter, one that counts each byte where it is consumed.
type way func(mode string, counter *byteCount) pass

// summed performs all iterations of a way inside the timed part.
func summed(w way) func(*sdk.Run) (sdk.Timing, error) {
	return func(run *sdk.Run) (timing sdk.Timing, failed error) {
		from, err := asked(run.Word("source"), run.Size)
		if err != nil {
			return timing, err
		}
		mode, mask, chunk := run.Word("mode"), ^uint64(0), int(run.Integer("chunk"))
		if mode == "sum8" {
			mask = 0xff
		}
		var counter *byteCount
		if run.Verify {
			counter = &byteCount{fnv: mode == "fnv"}
		}
		once := w(mode, counter)
		timing = run.Time(func(*sdk.Phases) uint64 {
			sum, err := once(from, chunk)
			if err != nil {
				failed = err
			}
			return sum & mask
		})
		if failed == nil && run.Verify {
			failed = counter.report(run, timing)
		}
		return timing, failed
	}
}

// byteCount is what an instrumented run counts: bytes, where they are consumed.
type byteCount struct {
	bytes uint64
	fnv   bool
}

// step counts a byte, and gives the sum with it.
func (c *byteCount) step(sum uint64, b byte) uint64 {
	c.bytes++
	if c.fnv {
		return (sum ^ uint64(b)) * fnvPrime
	}
	return sum + uint64(b)
}

// report adds what was counted to timing, unless bytes are missing or too many.
func (c *byteCount) report(run *sdk.Run, timing sdk.Timing) error {
	if expected := run.Size * run.Iterations; c.bytes != expected {
		return fmt.Errorf("%d bytes were consumed, %d were asked for", c.bytes, expected)
	}
	timing.Extra["executed"] = c.bytes
	return nil
}

// source is a file, or a response.
type source struct {
	path, url string
	client    *http.Client
}

// asked is the file or the response of size bytes, where the environment says.
func asked(kind string, size uint64) (*source, error) {
	name, what := "TASKSCALE_BYTES", "the folder in which"
	if kind == "http" {
		name, what = "TASKSCALE_BYTES_URL", "the server from which"
	}
	place := os.Getenv(name)
	if place == "" {
		return nil, fmt.Errorf("%s is not set: it names %s %d.bytes is; `taskscale run` sets it", name, what, size)
	}
	at := fmt.Sprintf("%s/%d.bytes", place, size)
	if kind == "http" {
		return fromURL(at), nil
	}
	return &source{path: at}, nil
}

// fromURL is a response. A connection is closed behind it: what a pass opens it closes.
func fromURL(url string) *source {
	return &source{url: url, client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
}

func (s *source) open() (io.ReadCloser, error) {
	if s.client == nil {
		return os.Open(s.path)
	}
	response, err := s.client.Get(s.url)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		return nil, fmt.Errorf("%s answered %s", s.url, response.Status)
	}
	return response.Body, nil
}
