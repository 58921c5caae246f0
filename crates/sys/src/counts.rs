//! Exact counts of what another process does: calls to the allocator, system calls. They do not
//! depend on how busy the machine is.
//!
//! | module | counts | by |
//! |---|---|---|
//! | [`allocations`] | calls to malloc and its relatives, bytes asked for | a preloaded library and a shared file |
//! | [`syscalls`] | system calls of a process and all it starts | the kernel's tracepoint `raw_syscalls:sys_enter` |
//!
//! Both cost the counted process time (`allocations`: below 1 ns a call to the allocator;
//! `syscalls`: 107 ns a system call), so a process that is counted is not timed.

pub mod allocations;
pub mod syscalls;
