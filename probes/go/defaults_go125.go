//go:build go1.25

// A program of today takes the limit of its container for GOMAXPROCS. The `go 1.21` of go.mod, there so that old Go can
// build this, would have it behave as in that release instead.
//go:debug default=go1.25

package main
