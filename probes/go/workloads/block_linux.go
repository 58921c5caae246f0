package workloads

import (
	"syscall"
	"time"
)

// canBlock says whether nanosleep is a system call here.
const canBlock = true

// nanosleep blocks the thread. A signal, by which the scheduler interrupts goroutines, cuts it short.
func nanosleep(lasts time.Duration) {
	left := syscall.NsecToTimespec(int64(lasts))
	for syscall.Nanosleep(&left, &left) == syscall.EINTR {
	}
}
