//! Files and server of the workload `bytes`: made once, kept, and looked through before each run,
//! which brings them into the page cache.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::{self, Read, Write},
    path::Path,
    sync::{Mutex, PoisonError},
};

use taskscale_model::{
    bytes::{self, Content, Sums, file_name},
    missing::Missing,
};
use taskscale_sys::{
    affinity::{self, Kept},
    clock,
    process::{Child, Command},
};

use crate::plan::{Plan, PlannedRow, RowState};

/// The sizes at which `taskscale probe check` asks: a byte, and a chunk of 64 KiB with a byte less
/// and one more.
pub const CHECKED: [u64; 4] = [1, 65_535, 65_536, 65_537];

/// Bytes that are made, or looked at, at once.
const CHUNK: usize = 1 << 20;
/// How long the server may take to come up.
const UP_NS: u64 = 20_000_000_000;
/// How long it may take to end by itself.
const GRACE_NS: u64 = 500_000_000;

/// The right sums by size. They follow from the size alone, and those of a large one take a second.
static KNOWN: Mutex<BTreeMap<u64, Sums>> = Mutex::new(BTreeMap::new());

/// The sums of `size` bytes: those of the file that was looked through, else of its content.
pub fn sums(size: u64) -> Sums {
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let found = known().get(&size).copied();
    found.unwrap_or_else(|| *known().entry(size).or_insert_with(|| Sums::of_content(size)))
}

/// Makes the file of `size` bytes in `folder`, or looks through the one that is there. One that
/// differs is made again. Memory is bounded.
///
/// # Errors
/// The file cannot be made: the disk is full, or the folder cannot be written.
pub fn ready(folder: &Path, size: u64) -> Result<(), Missing> {
    let path = folder.join(file_name(size));
    let failed = |error: io::Error| cannot_be_made(&path, size, &error);
    let found = looked_through(&path, size).map_err(failed)?;
    let sums = match found {
        Some(sums) => sums,
        None => {
            make(folder, size).map_err(failed)?;
            let again = looked_through(&path, size).map_err(failed)?;
            again.ok_or_else(|| failed(io::Error::other("what was written reads otherwise")))?
        }
    };
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).insert(size, sums);
    Ok(())
}

fn cannot_be_made(path: &Path, size: u64, error: &io::Error) -> Missing {
    let remedy = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            "free some room there, choose a smaller --size, or set XDG_CACHE_HOME to a folder elsewhere"
        }
        _ => "look at the folder, or set XDG_CACHE_HOME to one elsewhere",
    };
    Missing::new(format!("{} of {size} bytes cannot be made: {error}", path.display()), remedy)
}

/// The sums of a file that holds `size` bytes of the content and no more; `None` where it differs
/// or is not there.
fn looked_through(path: &Path, size: u64) -> io::Result<Option<Sums>> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    if file.metadata()?.len() != size {
        return Ok(None);
    }
    let (mut content, mut sums) = (Content::default(), Sums::default());
    let (mut found, mut right) = (vec![0; CHUNK], vec![0; CHUNK]);
    loop {
        let many = match file.read(&mut found) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            many => many?,
        };
        if many == 0 {
            return Ok((sums.bytes == size).then_some(sums));
        }
        content.fill(&mut right[..many]);
        if found[..many] != right[..many] {
            return Ok(None);
        }
        sums.add(&found[..many]);
    }
}

/// Makes the file. It appears whole or not at all.
fn make(folder: &Path, size: u64) -> io::Result<()> {
    write(folder, size, |_, _| ())
}

/// Makes a file of `size` bytes in `folder` whose last two different neighbours are swapped. Only a
/// sum that depends on the order tells it from the right one.
///
/// # Errors
/// The file cannot be made.
pub fn make_swapped(folder: &Path, size: u64) -> Result<(), Missing> {
    let whole = swapped(size);
    let written = write(folder, size, |from, bytes| bytes.copy_from_slice(&whole[from..from + bytes.len()]));
    written.map_err(|error| cannot_be_made(&folder.join(file_name(size)), size, &error))
}

/// The sums of a file that [`make_swapped`] makes.
pub fn swapped_sums(size: u64) -> Sums {
    let mut sums = Sums::default();
    sums.add(&swapped(size));
    sums
}

fn swapped(size: u64) -> Vec<u8> {
    let mut whole = vec![0; usize::try_from(size).unwrap_or_default()];
    Content::default().fill(&mut whole);
    if let Some(at) = (1..whole.len()).rev().find(|at| whole[at - 1] != whole[*at]) {
        whole.swap(at - 1, at);
    }
    whole
}

/// Writes `size` bytes of the content, each chunk after `change` was given its place and itself.
fn write(folder: &Path, size: u64, change: impl Fn(usize, &mut [u8])) -> io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    let (mut content, mut chunk, mut written) = (Content::default(), vec![0; CHUNK], 0);
    while written < size {
        let many = CHUNK.min(usize::try_from(size - written).unwrap_or(CHUNK));
        content.fill(&mut chunk[..many]);
        change(usize::try_from(written).map_err(io::Error::other)?, &mut chunk[..many]);
        file.write_all(&chunk[..many])?;
        written += many as u64;
    }
    // Some file systems say only now that they have no room.
    file.as_file().sync_all()?;
    file.persist(folder.join(file_name(size)))?;
    Ok(())
}

fn reads_bytes(row: &PlannedRow) -> bool {
    row.state.takes_part() && row.record.key.workload == bytes::WORKLOAD
}

fn is_http(row: &PlannedRow) -> bool {
    bytes::is_http(&row.record.key.workload, &row.record.key.params)
}

/// The sizes of the files that a plan needs. A file of one byte tells what a process holds without
/// the rest (`--metrics rss`).
pub fn sizes(plan: &Plan) -> BTreeSet<u64> {
    let mut sizes: BTreeSet<u64> =
        plan.rows().filter(|row| reads_bytes(row)).map(|row| row.record.key.size).collect();
    if !sizes.is_empty() {
        sizes.insert(1);
    }
    sizes
}

/// Whether a plan needs the server.
pub fn needs_server(plan: &Plan) -> bool {
    plan.rows().any(|row| reads_bytes(row) && is_http(row))
}

/// Leaves out what cannot be read, for the reason `why`: the rows of a size, or those of the
/// server.
pub fn leave_out(plan: &mut Plan, size: Option<u64>, why: &Missing) {
    for row in plan.cells_mut().flat_map(|cell| &mut cell.rows) {
        let is_of = size.map_or_else(|| is_http(row), |size| row.record.key.size == size);
        if reads_bytes(row) && is_of {
            row.state = RowState::Skipped(why.clone());
        }
    }
}

/// The server of the files of a folder, a process of its own. It ends when this is dropped, and
/// when the thread ends that started it.
#[derive(Debug)]
pub struct Server {
    child: Child,
    url: String,
}

impl Server {
    /// Starts `command`, which serves a folder and says where by a line `TASKSCALE_BYTES_URL=`. It
    /// is kept on the first CPU where there are two; those who read stay away from it
    /// ([`clients`]).
    ///
    /// # Errors
    /// It does not come up.
    pub fn start(command: &Command) -> Result<Server, Missing> {
        let refused = |why: String| {
            let what = format!("the server of the workload bytes does not come up: {why}");
            Missing::new(what, "run `taskscale probe bytes` to see more")
        };
        let usable = affinity::usable();
        let kept = if usable.len() > 1 { Kept::on(usable[0]) } else { None };
        let mut child = Child::spawn(command).map_err(|error| refused(error.to_string()))?;
        drop(kept);
        let deadline_ns = clock::monotonic_ns().saturating_add(UP_NS);
        loop {
            let line = child.read_line(deadline_ns).map_err(|problem| {
                let told = child.stderr_tail();
                refused(if told.is_empty() { format!("{problem:?}") } else { told })
            })?;
            let line = String::from_utf8_lossy(&line);
            if let Some(url) = line.strip_prefix(bytes::URL).and_then(|rest| rest.strip_prefix('=')) {
                return Ok(Server { url: url.trim().to_owned(), child });
            }
        }
    }

    /// Where it listens: `http://127.0.0.1:PORT`.
    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn pid(&self) -> u32 {
        self.child.pid()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It ends when its standard input does, else with its whole tree.
        self.child.end(GRACE_NS);
    }
}

/// The CPUs of those who read what the server gives: all but its own, where there are two.
pub fn clients() -> Option<Vec<u32>> {
    match affinity::usable().as_slice() {
        [_server, clients @ ..] if !clients.is_empty() => Some(clients.to_vec()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn content(size: usize) -> Vec<u8> {
        let mut bytes = vec![0; size];
        Content::default().fill(&mut bytes);
        bytes
    }

    #[test]
    fn a_file_is_made_kept_and_made_again_where_it_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let path = |size: u64| folder.path().join(file_name(size));
        for size in [1, 65_535, 65_537, CHUNK as u64 + 1] {
            ready(folder.path(), size).unwrap();
            assert_eq!(fs::read(path(size)).unwrap(), content(size as usize), "{size}");
        }
        let made = fs::metadata(path(65_537)).unwrap().modified().unwrap();
        ready(folder.path(), 65_537).unwrap();
        assert_eq!(fs::metadata(path(65_537)).unwrap().modified().unwrap(), made, "it is kept");
        let right = content(65_537);
        let mut swapped = right.clone();
        swapped.swap(1, 2);
        for wrong in [&right[1..], &[], &[&right[..], b"x"].concat(), &swapped] {
            fs::write(path(65_537), wrong).unwrap();
            ready(folder.path(), 65_537).unwrap();
            assert_eq!(fs::read(path(65_537)).unwrap(), right, "{} bytes were there", wrong.len());
        }
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|one| one.unwrap().file_name()).collect();
        assert_eq!(left.len(), 4, "nothing else stays: {left:?}");
    }

    #[test]
    fn swapped_neighbours_have_the_same_sum_and_another_hash() {
        let folder = tempfile::tempdir().unwrap();
        for size in [65_535, 65_536, 65_537] {
            make_swapped(folder.path(), size).unwrap();
            let swapped = swapped_sums(size);
            let right = sums(size);
            assert_eq!((swapped.bytes, swapped.sum8), (right.bytes, right.sum8));
            assert_ne!(swapped.fnv, right.fnv);
            let there = fs::read(folder.path().join(file_name(size))).unwrap();
            let mut of_file = Sums::default();
            of_file.add(&there);
            assert_eq!(of_file, swapped);
        }
        // One byte has no neighbour.
        assert_eq!(swapped_sums(1), sums(1));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_told() {
        // Every write to this device fails for want of room.
        let mut full = File::options().write(true).open("/dev/full").unwrap();
        let error = full.write_all(b"x").unwrap_err();
        let why = cannot_be_made(Path::new("/cache/8.bytes"), 8, &error);
        assert!(why.reason.starts_with("/cache/8.bytes of 8 bytes cannot be made: No space left"), "{why}");
        assert!(why.remedy.contains("free some room") && why.remedy.contains("XDG_CACHE_HOME"), "{why}");
        let folder = tempfile::tempdir().unwrap();
        let why = ready(&folder.path().join("none"), 8).unwrap_err();
        assert!(why.reason.contains("8.bytes of 8 bytes cannot be made: "), "{why}");
    }
}
