//go:build !linux

package workloads

// threadID tells threads of the operating system apart; outside Linux package syscall cannot.
func threadID() (id int, known bool) { return 0, false }
