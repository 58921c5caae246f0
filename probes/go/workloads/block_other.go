//go:build !linux

package workloads

import "time"

// canBlock says whether nanosleep is a system call here.
const canBlock = false

func nanosleep(time.Duration) {}
