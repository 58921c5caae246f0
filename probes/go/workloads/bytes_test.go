package workloads

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// truths are the published sums of the content, and the start of its SHA-256.
var truths = []struct {
	length    int
	sum8, fnv uint64
	sha       string
}{
	{8, 221, 0xfc3775c20640340c, "09d257170e76614b"},
	{65_536, 214, 0x361ce99ee50d834f, "21acd40c18c329e1"},
	{1_048_576, 38, 0xe5d2ee95ab2a6e4b, "80c44bce2a8a3a5d"},
}

const buffered = 65_536

// content is the words of xoshiro256**, least byte first, whose state is four outputs of splitmix64 from the seed 42.
func content(length int) []byte {
	var s [4]uint64
	for j := range s {
		s[j] = splitmix(42 + uint64(j)*0x9E3779B97F4A7C15)
	}
	var made []byte
	for len(made) < length {
		made = binary.LittleEndian.AppendUint64(made, bits.RotateLeft64(s[1]*5, 7)*9)
		t := s[1] << 17
		s[2] ^= s[0]
		s[3] ^= s[1]
		s[1] ^= s[2]
		s[0] ^= s[3]
		s[2] ^= t
		s[3] = bits.RotateLeft64(s[3], 45)
	}
	return made[:length]
}

// sums are the right answers, computed in another way: sum8 from a histogram, FNV by shifts.
func sums(data []byte) map[string]uint64 {
	var seen [256]uint64
	hash, sum := uint64(fnvStart), uint64(0)
	for _, b := range data {
		seen[b]++
		hash ^= uint64(b)
		hash += hash<<1 + hash<<4 + hash<<5 + hash<<7 + hash<<8 + hash<<40
	}
	for b, times := range seen {
		sum += uint64(b) * times
	}
	return map[string]uint64{"sum8": sum & 0xff, "fnv": hash, "none": uint64(len(data))}
}

// ways are those that this toolchain has; true: over HTTP too.
func byteWays() map[string]way {
	ways := map[string]way{
		"os.ReadFile/range": slices(readFile, byRange), "os.ReadFile/index": slices(readFile, byIndex),
		"io.ReadAll/range": slices(readAll, byRange), "Read/range": slices(readChunks, byRange), "Read/none": slices(readChunks, byNone),
		"io.Copy/Write": copied, "syscall.Mmap/range": slices(mapped, byRange), "bufio/ReadByte": called,
		"channel/range": slices(sent, byRange), "Read/iter.Seq": iterated,
	}
	if bySeq.sum8 == nil {
		delete(ways, "Read/iter.Seq")
	}
	return ways
}

func modesOf(name string) []string {
	if strings.HasSuffix(name, "/none") {
		return []string{"none"}
	}
	return []string{"sum8", "fnv"}
}

func readsResponses(name string) bool {
	return !strings.HasPrefix(name, "os.ReadFile") && !strings.HasPrefix(name, "syscall.Mmap")
}

func masked(mode string, sum uint64) uint64 {
	if mode == "sum8" {
		return sum & 0xff
	}
	return sum
}

func write(t *testing.T, folder string, data []byte) string {
	t.Helper()
	path := filepath.Join(folder, fmt.Sprintf("%d.bytes", len(data)))
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// served serves the files of a folder, drip bytes at a time.
func served(t *testing.T, folder string, drip int) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		data, err := os.ReadFile(filepath.Join(folder, request.URL.Path))
		if err != nil {
			http.NotFound(w, request)
			return
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		for len(data) > 0 {
			n := min(drip, len(data))
			w.Write(data[:n])
			w.(http.Flusher).Flush()
			data = data[n:]
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestTheContentAndTheSumsAreThePublishedOnes(t *testing.T) {
	for _, truth := range truths {
		data := content(truth.length)
		if sha := fmt.Sprintf("%x", sha256.Sum256(data)); !strings.HasPrefix(sha, truth.sha) {
			t.Error(truth.length, sha)
		}
		if got := sums(data); got["sum8"] != truth.sum8 || got["fnv"] != truth.fnv {
			t.Error(truth.length, got)
		}
	}
}

func TestEveryWayGivesThePublishedSumsAndCountsEachByte(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TASKSCALE_BYTES", folder)
	t.Setenv("TASKSCALE_BYTES_URL", served(t, folder, 1<<30))
	for _, truth := range truths {
		write(t, folder, content(truth.length))
		right := map[string]uint64{"sum8": truth.sum8, "fnv": truth.fnv, "none": uint64(truth.length)}
		for name, way := range byteWays() {
			for _, source := range []string{"file", "http"} {
				if source == "http" && !readsResponses(name) {
					continue
				}
				for _, mode := range modesOf(name) {
					run := request("", map[string]any{"source": source, "mode": mode, "chunk": buffered})
					run.Size, run.Iterations = uint64(truth.length), 2
					timing, err := summed(way)(run)
					if err != nil || timing.Answer != 2*right[mode] || timing.Extra["executed"] != uint64(2*truth.length) {
						t.Errorf("%s %s %s %d: %v, %v", name, source, mode, truth.length, timing, err)
					}
					run.Verify = false
					if timing, err := summed(way)(run); err != nil || timing.Answer != 2*right[mode] || len(timing.Extra) > 0 {
						t.Errorf("%s %s %s %d, timed: %v, %v", name, source, mode, truth.length, timing, err)
					}
				}
			}
		}
	}
}

func TestLengthsAroundABuffer(t *testing.T) {
	folder := t.TempDir()
	url := served(t, folder, 1<<30)
	for _, length := range []int{0, 1, buffered - 1, buffered + 1} {
		data := content(length)
		path, right := write(t, folder, data), sums(data)
		for name, way := range byteWays() {
			for _, mode := range modesOf(name) {
				sum, err := way(mode, nil)(&source{path: path}, buffered)
				if err != nil || masked(mode, sum) != right[mode] {
					t.Errorf("%s %s %d: %d, %v", name, mode, length, sum, err)
				}
				if !readsResponses(name) {
					continue
				}
				sum, err = way(mode, nil)(fromURL(url+"/"+filepath.Base(path)), buffered)
				if err != nil || masked(mode, sum) != right[mode] {
					t.Errorf("%s %s %d over HTTP: %d, %v", name, mode, length, sum, err)
				}
			}
		}
	}
}

func TestReadsThatGiveLessThanWasAskedFor(t *testing.T) {
	folder := t.TempDir()
	data := content(buffered + 1)
	write(t, folder, data)
	url, right := served(t, folder, 5000)+"/65537.bytes", sums(data)
	pipe := filepath.Join(folder, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, way := range byteWays() {
		for _, mode := range modesOf(name) {
			if name != "syscall.Mmap/range" {
				go func() {
					writer, err := os.OpenFile(pipe, os.O_WRONLY, 0)
					if err != nil {
						t.Error(err)
						return
					}
					defer writer.Close()
					for rest := data; len(rest) > 0; {
						n, _ := writer.Write(rest[:min(5000, len(rest))])
						rest = rest[n:]
					}
				}()
				sum, err := way(mode, nil)(&source{path: pipe}, buffered)
				if err != nil || masked(mode, sum) != right[mode] {
					t.Errorf("%s %s: %d, %v", name, mode, sum, err)
				}
			}
			if readsResponses(name) {
				sum, err := way(mode, nil)(fromURL(url), buffered)
				if err != nil || masked(mode, sum) != right[mode] {
					t.Errorf("%s %s over HTTP: %d, %v", name, mode, sum, err)
				}
			}
		}
	}
}

func TestTwoSwappedBytesAreAnotherFNV(t *testing.T) {
	data := content(buffered)
	right := sums(data)
	data[9], data[10] = data[10], data[9]
	if bytes.Equal(data, content(buffered)) {
		t.Fatal("the two are equal")
	}
	path := write(t, t.TempDir(), data)
	for name, way := range byteWays() {
		for _, mode := range modesOf(name) {
			sum, err := way(mode, nil)(&source{path: path}, buffered)
			if err != nil || (masked(mode, sum) == right[mode]) != (mode != "fnv") {
				t.Errorf("%s %s: %d, %v", name, mode, sum, err)
			}
		}
	}
}

func TestAResponseThatEndsTooEarlyOrIsNoneIsAnError(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if request.URL.Path == "/none" {
			http.NotFound(w, request)
			return
		}
		w.Header().Set("Content-Length", "100")
		w.Write(make([]byte, 99))
	}))
	defer server.Close()
	for name, way := range byteWays() {
		if !readsResponses(name) {
			continue
		}
		for path, said := range map[string]string{"/short": "unexpected EOF", "/none": "/none answered 404 Not Found"} {
			if _, err := way(modesOf(name)[0], nil)(fromURL(server.URL+path), buffered); err == nil || !strings.Contains(err.Error(), said) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestAByteThatWasNotLookedAtIsFound(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TASKSCALE_BYTES", folder)
	write(t, folder, content(8))
	half := func(mode string, counter *byteCount) pass {
		look := byRange.of(mode, counter)
		return func(from *source, _ int) (uint64, error) {
			data, err := os.ReadFile(from.path)
			return look(0, data[:4]), err
		}
	}
	run := request("", map[string]any{"source": "file", "mode": "sum8", "chunk": buffered})
	run.Size = 8
	if _, err := summed(half)(run); err == nil || err.Error() != "12 bytes were consumed, 24 were asked for" {
		t.Error(err)
	}
}

func TestWhatIsNotInTheEnvironmentIsNamed(t *testing.T) {
	t.Setenv("TASKSCALE_BYTES", "")
	t.Setenv("TASKSCALE_BYTES_URL", "")
	for source, name := range map[string]string{"file": "TASKSCALE_BYTES", "http": "TASKSCALE_BYTES_URL"} {
		run := request("", map[string]any{"source": source, "mode": "sum8", "chunk": buffered})
		timing, err := summed(slices(readChunks, byRange))(run)
		if err == nil || !strings.HasPrefix(err.Error(), name+" is not set: it names ") {
			t.Error(timing, err)
		}
	}
}
