package workloads

import "syscall"

// threadID tells threads of the operating system apart.
func threadID() (id int, known bool) { return syscall.Gettid(), true }
