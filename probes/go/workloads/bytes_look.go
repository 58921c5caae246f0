package workloads

import (
	"bufio"
	"hash/fnv"
	"io"
)

// look is a loop over bytes: it gives the sum with those of chunk.
type look func(sum uint64, chunk []byte) uint64

// manner is a way of looking, written out for both sums and for an instrumented run: Go calls a func value or a method of a
// type parameter for each byte.
type manner[T any] struct {
	sum8, fnv T
	counted   func(counter *byteCount) T
}

func (m manner[T]) of(mode string, counter *byteCount) T {
	switch {
	case counter != nil:
		return m.counted(counter)
	case mode == "fnv":
		return m.fnv
	}
	return m.sum8
}

// start is what a sum begins with.
func start(mode string) uint64 {
	if mode == "fnv" {
		return fnvStart
	}
	return 0
}

var byRange = manner[look]{
	sum8: func(sum uint64, chunk []byte) uint64 {
		for _, b := range chunk {
			sum += uint64(b)
		}
		return sum
	},
	fnv: func(sum uint64, chunk []byte) uint64 {
		for _, b := range chunk {
			sum = (sum ^ uint64(b)) * fnvPrime
		}
		return sum
	},
	counted: func(counter *byteCount) look {
		return func(sum uint64, chunk []byte) uint64 {
			for _, b := range chunk {
				sum = counter.step(sum, b)
			}
			return sum
		}
	},
}

var byIndex = manner[look]{
	sum8: func(sum uint64, chunk []byte) uint64 {
		for i := 0; i < len(chunk); i++ {
			sum += uint64(chunk[i])
		}
		return sum
	},
	fnv: func(sum uint64, chunk []byte) uint64 {
		for i := 0; i < len(chunk); i++ {
			sum = (sum ^ uint64(chunk[i])) * fnvPrime
		}
		return sum
	},
	counted: func(counter *byteCount) look {
		return func(sum uint64, chunk []byte) uint64 {
			for i := 0; i < len(chunk); i++ {
				sum = counter.step(sum, chunk[i])
			}
			return sum
		}
	},
}

// byNone looks at no byte: the sum is their number.
var byNone = manner[look]{
	sum8: func(sum uint64, chunk []byte) uint64 { return sum + uint64(len(chunk)) },
	counted: func(counter *byteCount) look {
		return func(sum uint64, chunk []byte) uint64 {
			counter.bytes += uint64(len(chunk))
			return sum + uint64(len(chunk))
		}
	},
}

var byReadByte = manner[func(sum uint64, from *bufio.Reader) (uint64, error)]{
	sum8: func(sum uint64, from *bufio.Reader) (uint64, error) {
		for {
			b, err := from.ReadByte()
			if err != nil {
				return sum, unlessEOF(err)
			}
			sum += uint64(b)
		}
	},
	fnv: func(sum uint64, from *bufio.Reader) (uint64, error) {
		for {
			b, err := from.ReadByte()
			if err != nil {
				return sum, unlessEOF(err)
			}
			sum = (sum ^ uint64(b)) * fnvPrime
		}
	},
	counted: func(counter *byteCount) func(uint64, *bufio.Reader) (uint64, error) {
		return func(sum uint64, from *bufio.Reader) (uint64, error) {
			for {
				b, err := from.ReadByte()
				if err != nil {
					return sum, unlessEOF(err)
				}
				sum = counter.step(sum, b)
			}
		}
	},
}

// unlessEOF is the error that a reader ended with, if it did not end as it should.
func unlessEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// summing is a writer that has the sum of what was written.
type summing interface {
	io.Writer
	Sum64() uint64
}

// byWrite makes a writer for each pass. That of FNV is the standard library's.
var byWrite = manner[func() summing]{
	sum8: func() summing { return new(sum8Writer) },
	fnv:  func() summing { return fnv.New64a() },
	counted: func(counter *byteCount) func() summing {
		return func() summing {
			sum := uint64(0)
			if counter.fnv {
				sum = fnvStart
			}
			return &countedWriter{sum, counter}
		}
	},
}

type sum8Writer uint64

func (w *sum8Writer) Write(chunk []byte) (int, error) {
	*w = sum8Writer(byRange.sum8(uint64(*w), chunk))
	return len(chunk), nil
}

func (w *sum8Writer) Sum64() uint64 { return uint64(*w) }

type countedWriter struct {
	sum     uint64
	counter *byteCount
}

func (w *countedWriter) Write(chunk []byte) (int, error) {
	for _, b := range chunk {
		w.sum = w.counter.step(w.sum, b)
	}
	return len(chunk), nil
}

func (w *countedWriter) Sum64() uint64 { return w.sum }
