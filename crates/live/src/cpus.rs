//! How much of the CPUs that it may use a program uses.

use taskscale_sys::{affinity, clock};

/// The CPU time that all threads of the process have used; 0 where the system does not tell.
pub fn process_ns() -> u64 {
    clock::process_cpu_ns(std::process::id()).unwrap_or(0)
}

/// The share of the CPUs' time that the process has used in the last `elapsed_ns`, when its CPU
/// time was `since_ns` at their begin; and the number of these CPUs. `None` where the system does
/// not tell. Threads that run now may be short of a tick of 4 ms, so it is rather too low.
pub fn used(since_ns: u64, elapsed_ns: u64) -> Option<(f64, u64)> {
    let (now_ns, cpus) = (process_ns(), affinity::usable().len());
    let known = cpus > 0 && elapsed_ns > 0 && now_ns > since_ns;
    known.then(|| (share(now_ns - since_ns, elapsed_ns, cpus), cpus as u64))
}

fn share(cpu_ns: u64, elapsed_ns: u64, cpus: usize) -> f64 {
    cpu_ns as f64 / (elapsed_ns as f64 * cpus as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_of_all_cpus() {
        assert_eq!(share(3_000, 2_000, 2), 0.75);
        assert_eq!(used(u64::MAX, 1_000), None, "a clock that is not there");
        assert_eq!(used(0, 0), None);
    }
}
