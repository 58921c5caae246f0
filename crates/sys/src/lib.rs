//! The only access to the operating system: clocks, child processes, and what the machine is.
//!
//! | module | answers | unit or type |
//! |---|---|---|
//! | [`clock`] | what time is it, how much CPU has a process used | ns |
//! | [`ticks`] | what time is it, as cheaply as can be | ticks, and their rate |
//! | [`fifo`] | is this a pipe with a name, and does someone write to it | a file |
//! | [`held`] | which of several items does this thread hold | a reference |
//! | [`affinity`] | on which CPUs does this thread run | numbers of CPUs |
//! | [`delay`] | how long has this thread waited for a processor | ns |
//! | [`threads`] | how much CPU has each thread of a process used | ns |
//! | [`counts`] | what has a process asked of its allocator, the kernel, the processor | calls, bytes, instructions |
//! | [`own`] | is this folder the user's own, so that nobody else's file lies in it | a path |
//! | [`process`] | a probe over pipes: spawn, ask, bound the wait, end it with all its descendants | [`process::Child`] |
//! | [`machine`] | what is this machine, and what of it cannot be read | [`taskscale_model::machine::Machine`] |
//! | [`doctor`] | what here blurs or biases figures, measured | [`taskscale_model::doctor::facts::Facts`] |
//! | [`disturbance`] | what else used the machine since the last look | [`taskscale_model::machine::Disturbance`] |
//!
//! Linux comes first: elsewhere on Unix everything compiles, and a reading that is not there says
//! so. `unsafe` is confined to the modules that carry an `allow`. Each call says why it is sound.

pub mod affinity;
pub mod clock;
pub mod counts;
pub mod delay;
pub mod disturbance;
pub mod doctor;
mod ffi;
pub mod fifo;
pub mod held;
pub mod machine;
pub mod own;
#[cfg(target_os = "linux")]
mod perf;
pub mod process;
pub mod threads;
pub mod ticks;
