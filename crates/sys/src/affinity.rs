//! On which CPUs a thread runs, and with it what it starts.

#![allow(unsafe_code)]

use crate::{machine, threads};

/// Lets the calling thread run on these CPUs only. Returns whether the system did so. CPUs beyond
/// 1,023 are left out.
pub fn pin(cpus: &[u32]) -> bool {
    pin_thread(0, cpus)
}

/// Lets all threads of these processes, and what they start from now on, run on `cpu` only. Returns
/// whether it did. Where one thread cannot be moved, all may run where this thread may, as before.
///
/// It takes two system calls and one file for each thread. A process keeps what it took for the
/// number of CPUs when it began.
pub fn keep(pids: &[u32], cpu: u32) -> bool {
    let kept = pin_threads(pids, &[cpu]);
    if !kept {
        pin_threads(pids, &usable());
    }
    kept
}

/// Whether all threads of these processes were moved. What a thread starts inherits its CPUs, so a
/// second look finds those that began during the first.
fn pin_threads(pids: &[u32], cpus: &[u32]) -> bool {
    let pin = |pid: u32| {
        threads::ids(pid).is_ok_and(|mut ids| ids.all(|id| pin_thread(id, cpus) || has_ended(pid, id)))
    };
    (0..2).all(|_| pids.iter().all(|&pid| pin(pid)))
}

fn has_ended(pid: u32, id: u32) -> bool {
    !std::path::Path::new(&format!("/proc/{pid}/task/{id}")).exists()
}

/// Lets the thread `id` run on these CPUs only; 0 is the calling thread.
fn pin_thread(id: u32, cpus: &[u32]) -> bool {
    #[cfg(target_os = "linux")]
    {
        let mut mask = [0u64; 16];
        for cpu in cpus {
            if let Some(word) = mask.get_mut(*cpu as usize / 64) {
                *word |= 1 << (cpu % 64);
            }
        }
        // SAFETY: `mask` is 128 bytes of plain bits, as a cpu_set_t.
        unsafe { libc::sched_setaffinity(id.cast_signed(), size_of_val(&mask), mask.as_ptr().cast()) == 0 }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (id, cpus);
        false
    }
}

/// Returns the CPUs that the calling thread may use, ascending; none where the system does not say.
pub fn usable() -> Vec<u32> {
    machine::usable(&machine::ThisMachine).value().cloned().unwrap_or_default()
}

/// Keeps the calling thread, and what it starts, on some CPUs until this is dropped.
#[derive(Debug)]
pub struct Kept {
    before: Vec<u32>,
}

impl Kept {
    /// Keeps the calling thread on `cpu`; `None` where the system does not let it.
    pub fn on(cpu: u32) -> Option<Kept> {
        Kept::on_all(&[cpu])
    }

    /// Keeps the calling thread on `cpus`; `None` where the system does not let it.
    pub fn on_all(cpus: &[u32]) -> Option<Kept> {
        let before = usable();
        (!before.is_empty() && pin(cpus)).then_some(Kept { before })
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        pin(&self.before);
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::{
        io::{BufRead, BufReader, Write},
        process::{Child, ChildStdout, Command, Stdio},
        thread,
    };

    use taskscale_model::missing::Reading;

    use super::*;

    #[test]
    fn a_thread_is_put_on_a_cpu_and_the_others_are_not() {
        let before = machine::read().cpus_usable;
        let usable = usable();
        thread::scope(|scope| {
            scope.spawn(|| {
                assert!(pin(&usable[..1]));
                assert_eq!(machine::read().cpus_usable, Reading::Value(1));
                assert!(pin(&usable));
                assert_eq!(machine::read().cpus_usable, before);
            });
        });
        assert!(!pin(&[]), "nowhere to run");
        assert_eq!(machine::read().cpus_usable, before);
    }

    #[test]
    fn what_is_started_stays_on_the_cpu_and_the_thread_does_not() {
        let all = usable();
        let cpu = *all.last().expect("a CPU");
        let list = || {
            let script = "grep Cpus_allowed_list: /proc/self/status";
            let output = Command::new("sh").args(["-c", script]).output().expect("a shell").stdout;
            String::from_utf8_lossy(&output).split_whitespace().last().map(str::to_owned)
        };
        thread::scope(|scope| {
            scope.spawn(|| {
                let kept = Kept::on(cpu).expect("a CPU that it may use");
                assert_eq!(list(), Some(cpu.to_string()));
                drop(kept);
                assert_eq!(usable(), all);
            });
        });
        assert_eq!(Kept::on(u32::MAX).map(|_| ()), None, "no such CPU");
    }

    #[test]
    fn all_threads_of_a_process_are_kept_on_a_cpu_or_none() {
        // The process reads its own threads' CPUs when it is told to.
        let script = "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n\
            print('up', flush=True)\ninput()\nimport glob\n\
            print(*{line.split()[1] for task in glob.glob('/proc/self/task/*/status') for line in open(task)\n\
            if line.startswith('Cpus_allowed_list')}, flush=True)";
        let start = || {
            let mut child = Command::new("python3")
                .args(["-c", script])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .expect("Python");
            let mut answers = BufReader::new(child.stdout.take().expect("a pipe"));
            answers.read_line(&mut String::new()).expect("it is up");
            (child, answers)
        };
        let cpus = |(mut child, mut answers): (Child, BufReader<ChildStdout>)| {
            child.stdin.take().expect("a pipe").write_all(b"\n").expect("it listens");
            let mut line = String::new();
            answers.read_line(&mut line).expect("it answers");
            child.wait().expect("it ends");
            line.trim().to_owned()
        };
        let cpu = *usable().last().expect("a CPU");
        let (one, other) = (start(), start());
        let all = cpus(start());
        assert!(keep(&[one.0.id()], cpu));
        assert_eq!(cpus(one), cpu.to_string());
        assert!(!keep(&[other.0.id()], u32::MAX), "no such CPU");
        assert_eq!(cpus(other), all);
        assert!(!keep(&[u32::MAX], cpu), "no such process");
    }
}
