//go:build unix && !linux

package sdk

import "syscall"

// cpuNs reads how much CPU all threads of this process have used, user and system, in nanoseconds, in steps of a
// microsecond: outside Linux package syscall has no finer clock without C.
func cpuNs() int64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return usage.Utime.Nano() + usage.Stime.Nano()
}
