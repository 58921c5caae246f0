//go:build linux

package sdk

import "syscall"
import "unsafe"

// cpuBeginNs reads how much CPU all threads of this process have used, where a sample begins: exact, for some 5 us. The wall
// clock is read behind it.
func cpuBeginNs() int64 {
	countRunningThreads()
	return cpuNs()
}

// cpuEndNs is the same where it ends, without what this call takes. The wall clock is read before it.
func cpuEndNs() int64 {
	begun := readClock(3) // CLOCK_THREAD_CPUTIME_ID
	countRunningThreads()
	took := readClock(3) - begun
	// The clock of another thread, if the goroutine has moved meanwhile.
	if took < 0 || took > 1_000_000 {
		took = 0
	}
	return cpuNs() - took
}

// countRunningThreads brings the clock of the process up to date. It is the sum over the threads, and Linux counts what a
// thread is using on another CPU at its tick only, every 4 ms at 250 Hz: one that still looks for goroutines when the last
// one is done is short of 2 ms on average. Asking for the clock of a thread counts its time at once. Threads that sleep are
// up to date; more than the buffer holds (some 200) are not asked. Nothing is allocated.
func countRunningThreads() {
	file, err := syscall.Open("/proc/self/task", syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	n, _ := syscall.ReadDirent(file, threads[:])
	syscall.Close(file)
	for at := 0; at+19 < n; {
		entry := (*syscall.Dirent)(unsafe.Pointer(&threads[at]))
		thread := uintptr(0)
		for _, digit := range entry.Name {
			if digit < '0' || digit > '9' {
				break
			}
			thread = thread*10 + uintptr(digit-'0')
		}
		if thread > 0 {
			readClock(^thread<<3 | 6) // as pthread_getcpuclockid makes it
		}
		at += int(entry.Reclen)
	}
}

var threads [8192]byte
