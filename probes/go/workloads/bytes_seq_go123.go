//go:build go1.23

package workloads

import (
	"io"
	"iter"

	"taskscale/sdk"
)

var seqOptions = []sdk.Option{}

// each gives the bytes of a reader one after the other, and leaves in failed what it ended with.
func each(from io.Reader, buffer []byte, failed *error) iter.Seq[byte] {
	return func(yield func(byte) bool) {
		for {
			n, err := from.Read(buffer)
			for _, b := range buffer[:n] {
				if !yield(b) {
					return
				}
			}
			if err != nil {
				*failed = unlessEOF(err)
				return
			}
		}
	}
}

var bySeq = manner[func(sum uint64, from io.Reader, buffer []byte) (uint64, error)]{
	sum8: func(sum uint64, from io.Reader, buffer []byte) (uint64, error) {
		var failed error
		for b := range each(from, buffer, &failed) {
			sum += uint64(b)
		}
		return sum, failed
	},
	fnv: func(sum uint64, from io.Reader, buffer []byte) (uint64, error) {
		var failed error
		for b := range each(from, buffer, &failed) {
			sum = (sum ^ uint64(b)) * fnvPrime
		}
		return sum, failed
	},
	counted: func(counter *byteCount) func(uint64, io.Reader, []byte) (uint64, error) {
		return func(sum uint64, from io.Reader, buffer []byte) (uint64, error) {
			var failed error
			for b := range each(from, buffer, &failed) {
				sum = counter.step(sum, b)
			}
			return sum, failed
		}
	},
}
