//! The names of threads and processes, as the source gives them, in bounded memory.

use std::collections::HashMap;

use crate::workers::Id;

/// Most names of each kind.
const MOST: usize = 4_096;
/// Most bytes of a name.
const MOST_BYTES: usize = 48;

/// Names of the present file by the ids of the source, and names of workers of all files.
#[derive(Debug, Default)]
pub struct Names {
    threads: HashMap<(Id, Id), Box<str>>,
    processes: HashMap<Id, Process>,
    workers: HashMap<u32, Box<str>>,
}

#[derive(Debug, Default)]
struct Process {
    name: Option<Box<str>>,
    label: Option<Box<str>>,
}

impl Process {
    /// Returns what tells this process from others.
    fn mark(&self) -> Option<&str> {
        self.label.as_deref().or(self.name.as_deref())
    }
}

impl Names {
    /// Keeps the name of a thread. The last of two counts.
    pub fn name_thread(&mut self, process: Id, thread: Id, name: &[u8]) {
        let name = short_name(name);
        let key = (process, thread);
        if !name.is_empty() && (self.threads.len() < MOST || self.threads.contains_key(&key)) {
            self.threads.insert(key, name.into());
        }
    }

    /// Keeps the name or the label of a process.
    pub fn name_process(&mut self, process: Id, name: &[u8], is_label: bool) {
        let name = short_name(name);
        if name.is_empty() || (self.processes.len() >= MOST && !self.processes.contains_key(&process)) {
            return;
        }
        let known = self.processes.entry(process).or_default();
        *(if is_label { &mut known.label } else { &mut known.name }) = Some(name.into());
    }

    /// Returns the name of a thread of the present file.
    pub fn of_thread(&self, process: Id, thread: Id) -> Option<&str> {
        self.threads.get(&(process, thread)).map(|name| &**name)
    }

    /// Returns the thread of a process that is named `MainThread`, or the only one with a name.
    /// `None` where names may be missing.
    pub fn main_thread(&self, process: Id) -> Option<Id> {
        if self.threads.len() >= MOST {
            return None;
        }
        let mut named = self.threads.iter().filter(|((of, _), _)| *of == process);
        let main = named.clone().find(|(_, name)| &***name == "MainThread");
        let ((_, thread), _) = match (main, named.next(), named.next()) {
            (Some(main), ..) => main,
            (None, Some(only), None) => only,
            _ => return None,
        };
        Some(*thread)
    }

    /// Returns the name of a worker of any file.
    pub fn of_worker(&self, index: u32) -> Option<&str> {
        self.workers.get(&index).map(|name| &**name)
    }

    /// Gives the names of the present file to its workers and forgets them. Workers are (index,
    /// process, thread).
    pub fn settle(&mut self, workers: impl Iterator<Item = (u32, Id, Id)>) {
        if self.threads.is_empty() && self.processes.is_empty() {
            return;
        }
        let (threads, processes) = (std::mem::take(&mut self.threads), std::mem::take(&mut self.processes));
        let workers: Vec<_> = workers.filter(|worker| (worker.0 as usize) < MOST).collect();
        // One process of those whose workers have this name, and whether there are others.
        let mut shared: HashMap<&str, (Id, bool)> = HashMap::new();
        for &(_, process, thread) in &workers {
            if let Some(name) = threads.get(&(process, thread)) {
                let (known, is_shared) = shared.entry(name).or_insert((process, false));
                *is_shared |= *known != process;
            }
        }
        for &(index, process, thread) in &workers {
            let mark = processes.get(&process).and_then(Process::mark);
            let name = match (threads.get(&(process, thread)), mark) {
                (Some(name), Some(mark)) if shared.get(&**name).is_some_and(|shared| shared.1) => {
                    short_name(format!("{mark}: {name}").as_bytes()).into()
                }
                (Some(name), _) => name.clone(),
                (None, Some(mark)) => mark.into(),
                (None, None) => continue,
            };
            self.workers.insert(index, name);
        }
    }
}

/// Makes a name short enough to keep and safe to print.
pub fn short_name(name: &[u8]) -> String {
    // A name that is longer is cut in any case, and each byte is at most one character.
    let name = String::from_utf8_lossy(&name[..name.len().min(4 * MOST_BYTES)]);
    let name = name.replace(char::is_control, " ");
    let mut short = String::new();
    for char in name.trim().chars() {
        if short.len() + char.len_utf8() > MOST_BYTES {
            break;
        }
        short.push(char);
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDS: [Id; 3] = [Id::Integer(1), Id::Integer(2), Id::Integer(3)];

    #[test]
    fn a_worker_has_its_threads_name_or_its_processs() {
        let mut names = Names::default();
        let [a, b, c] = IDS;
        names.name_thread(a, a, b" stream 7 ");
        names.name_thread(b, a, b"stream 7");
        names.name_thread(a, b, b"main");
        names.name_process(a, b"python", false);
        names.name_process(a, b"GPU 0", true);
        names.name_process(b, b"python", false);
        names.name_process(c, b"idle", false);
        assert_eq!(names.of_thread(a, a), Some("stream 7"));
        names.settle([(0, a, a), (1, b, a), (2, a, b), (3, c, c), (4, a, c)].into_iter());
        let found: Vec<_> = (0..6).map(|index| names.of_worker(index)).collect();
        let expected = ["GPU 0: stream 7", "python: stream 7", "main", "idle", "GPU 0"].map(Some);
        assert_eq!(found, [&expected[..], &[None]].concat());
        // Another file keeps them, and begins without any.
        names.settle([(0, a, a), (7, b, a)].into_iter());
        assert_eq!((names.of_worker(0), names.of_worker(7)), (Some("GPU 0: stream 7"), None));
    }

    #[test]
    fn names_are_short_and_few() {
        assert_eq!(short_name("a\n\u{1b}[31mb\0".as_bytes()), "a  [31mb");
        assert_eq!(short_name("\u{e4}".repeat(100).as_bytes()), "\u{e4}".repeat(24));
        assert_eq!(short_name(&[b'x'; 100_000]).len(), 48);
        assert_eq!(short_name(b"\xFF\xFEa"), "\u{FFFD}\u{FFFD}a");
        let mut names = Names::default();
        for i in 0..5_000 {
            names.name_thread(Id::Absent, Id::Integer(i), b"worker");
            names.name_process(Id::Integer(i), b"process", false);
        }
        assert_eq!((names.threads.len(), names.processes.len()), (MOST, MOST));
        names.settle((0..5_000).map(|i| (i, Id::Absent, Id::Integer(i.into()))));
        assert_eq!((names.workers.len(), names.of_worker(4_096)), (MOST, None));
    }
}
