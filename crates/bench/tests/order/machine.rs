//! A machine of which nothing is known.

use taskscale_model::{machine::Machine, missing::Reading};

pub fn unknown() -> Machine {
    fn missing<T>() -> Reading<T> {
        Reading::missing("a fake machine", "")
    }
    Machine {
        cpu_model: missing(),
        cpus_usable: missing(),
        cpus: missing(),
        threads_per_core: missing(),
        numa_nodes: missing(),
        cpu_quota: missing(),
        governor: missing(),
        memory_bytes: missing(),
        kernel: missing(),
        clock_source: missing(),
        load_1m: missing(),
        virtualised: missing(),
        fingerprint: String::new(),
    }
}
