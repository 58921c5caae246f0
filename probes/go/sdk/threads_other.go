//go:build unix && !linux

package sdk

// The clock of the process is up to date here.
func cpuBeginNs() int64 { return cpuNs() }
func cpuEndNs() int64   { return cpuNs() }
