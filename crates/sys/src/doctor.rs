//! Finds what on this machine blurs or biases figures. It reads what the kernel tells, and measures
//! what the kernel does not tell.
//!
//! | module | does |
//! |---|---|
//! | `read` | the kernel's files: processors, control group, memory, limits |
//! | [`bench`](mod@bench) | the clocks and the fixed piece of work that everything is measured with |
//! | [`measure`] | cost of clocks and system calls, slices of work, the influence of a busy neighbour |
//! | `counters` | counters of the kernel that move meanwhile |
//! | `neighbour` | a thread on another CPU that is busy or asleep |
//! | `raw` | calls that `std` has no door to |
//!
//! Nothing is concluded here: `crates/analysis` does that.

pub mod bench;
mod counters;
pub mod measure;
mod neighbour;
mod raw;
mod read;

use taskscale_model::doctor::facts::{Facts, Measured};

use crate::machine::{self, ThisMachine};

pub use counters::Counters;
pub use read::read;

/// The steps of an examination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Reading the kernel's files.
    Reading,
    /// Timing clocks and a system call.
    Clocks,
    /// Repeating a fixed piece of work, and a fixed walk through memory.
    Work,
    /// Repeating the same work beside another CPU that is busy.
    Neighbours,
}

/// Reads and measures this machine. Takes 1 to 5 s of wall time and 1 to 2 s of CPU time, on one
/// CPU, and on two for some moments. Starts one thread and ends it.
pub fn examine(mut step: impl FnMut(Step)) -> Facts {
    step(Step::Reading);
    let files = ThisMachine;
    let mut facts = read(&files);
    facts.machine = machine::read();
    facts.kernel.hardware_counters = raw::try_hardware_counter();
    let mut bench = bench::ThisThread::new();
    step(Step::Clocks);
    let clocks = measure::clocks(&mut bench);
    let system_call_ns = measure::system_call(&mut bench);
    step(Step::Work);
    let steps = measure::steps_of_a_slice(&mut bench);
    let before = Counters::read(&files);
    let slices = measure::slices(&mut bench, steps);
    let moved = before.moved(&Counters::read(&files));
    let walks = measure::walks(&mut bench);
    step(Step::Neighbours);
    let pairs =
        neighbour::pairs(facts.processors.usable.value().map_or(&[], Vec::as_slice), &facts.processors.cpus);
    let neighbours =
        pairs.into_iter().filter_map(|pair| neighbour::measure(&mut bench, pair, steps)).collect();
    facts.measured = Measured { clocks, system_call_ns, slices, walks, neighbours, moved };
    facts
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_examined() {
        let mut steps = Vec::new();
        let facts = examine(|step| steps.push(step));
        assert_eq!(steps, [Step::Reading, Step::Clocks, Step::Work, Step::Neighbours]);
        let measured = &facts.measured;
        assert_eq!(measured.clocks.len(), 3);
        assert!(measured.clocks.iter().all(|clock| clock.cost_ns > 0.0 && clock.step_ns > 0));
        assert!(!measured.walks.is_empty() && measured.walks.iter().all(|walk| *walk > 0));
        assert!(!measured.slices.is_empty() && measured.slices.iter().all(|slice| slice.wall_ns > 0));
        // The affinity is what it was before.
        let usable = machine::read().cpus_usable;
        assert_eq!(usable, facts.machine.cpus_usable);
    }
}
