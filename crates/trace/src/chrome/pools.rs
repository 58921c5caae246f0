//! PyTorch's two pools: CPU threads run operators, and streams of devices run what those launch.
//!
//! Neither takes the other's tasks, so one digest is of one pool: of the streams where there are
//! any, since they are what a training step pays for, and of the threads elsewhere. The first block
//! of the file mostly shows which. Where it does not, a second reading knows.

use memchr::memmem;

use crate::tally::Reason;

/// Categories of what runs on streams. The last three are those of PyTorch 1.8 to 1.11.
const ON_STREAMS: [&[u8]; 8] =
    [b"kernel", b"gpu_memcpy", b"gpu_memset", b"hpu_op", b"mtia_ccp_events", b"Kernel", b"Memcpy", b"Memset"];

/// Texts of a first block that show a device.
const MARKS: [&[u8]; 5] = [
    b"\"cat\": \"kernel\"",
    b"\"cat\":\"kernel\"",
    b"\"cat\": \"gpu_mem",
    b"\"cat\": \"Kernel\"",
    b"\"cat\": \"Memcpy\"",
];

/// Which pool counts, and what was seen of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pools {
    streams: bool,
    on_threads: u64,
    on_streams: u64,
}

impl Pools {
    /// Chooses by what an earlier reading found, or by the first block.
    pub fn new(found: Option<Pools>, block: &[u8]) -> Self {
        let streams = match found {
            Some(found) => found.on_streams > 0,
            None => has_device(block) || MARKS.iter().any(|mark| memmem::find(block, mark).is_some()),
        };
        Pools { streams, on_threads: 0, on_streams: 0 }
    }

    /// Says why a task is left out, where it is of the other pool.
    #[inline(never)]
    pub fn refuses(&mut self, cat: &[u8]) -> Option<Reason> {
        let on_stream = ON_STREAMS.contains(&cat);
        *(if on_stream { &mut self.on_streams } else { &mut self.on_threads }) += 1;
        match (self.streams, on_stream) {
            (true, false) => Some(Reason::OnThread),
            (false, true) => Some(Reason::OnStream),
            _ => None,
        }
    }

    /// Tells whether the right pool was chosen.
    pub fn are_right(&self) -> bool {
        self.streams == (self.on_streams > 0) || self.on_threads + self.on_streams == 0
    }

    /// Tells which pool counts, and how to get the other.
    pub fn note(&self) -> Option<String> {
        match (self.streams, self.on_threads, self.on_streams) {
            (_, 0, 0) => None,
            (true, 0, _) => Some("PyTorch: workers are GPU streams".to_owned()),
            (true, n, _) => Some(format!(
                "PyTorch: workers are GPU streams; {n} operators on CPU threads are left out (--cat cpu_op counts them)"
            )),
            (false, _, 0) => Some("PyTorch: workers are CPU threads".to_owned()),
            (false, _, n) => Some(format!(
                "PyTorch: workers are CPU threads; {n} kernels and copies on GPU streams are left out (--cat kernel)"
            )),
        }
    }
}

/// Tells whether `deviceProperties` holds a device.
fn has_device(block: &[u8]) -> bool {
    let key = b"\"deviceProperties\"";
    memmem::find(block, key).is_some_and(|at| {
        let mut rest = block[at + key.len()..].iter().filter(|byte| !byte.is_ascii_whitespace());
        rest.next() == Some(&b':') && rest.next() == Some(&b'[') && rest.next() == Some(&b'{')
    })
}
