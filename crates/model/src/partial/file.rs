//! The file of a partial: one line of JSON with its check at the end, as run files have it.

use super::{Counts, Partial, SCHEMA, most};
use crate::run_file::line::{self, Check};

/// The most bytes that a reader takes: far more than any merge writes.
pub const MOST_BYTES: usize = 128 * 1024;

/// Why a file is no partial that can be taken in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error("it is empty: the command that was to write it did not; run that again")]
    Empty,
    #[error("it is no partial: taskscale digest TRACE --partial FILE writes one")]
    Other,
    #[error("it is cut off at its end: write it again")]
    Cut,
    #[error("its bytes are not those that were written (the check crc32 differs): write it again")]
    Damaged,
    #[error("it is of version {0}, and this taskscale reads {SCHEMA}: use the newer taskscale")]
    Newer(String),
    #[error("it has something that no partial has: {0}")]
    Wrong(String),
}

/// The bytes of a partial. Equal partials have equal bytes.
pub fn write(partial: &Partial) -> Vec<u8> {
    // A value of integers, texts and lists of them is always JSON.
    line::checked(serde_json::to_vec(partial).unwrap_or_default())
}

/// Reads what [`write`] wrote.
///
/// # Errors
/// The bytes are not those of a partial of this version.
pub fn read(bytes: &[u8]) -> Result<Partial, ReadError> {
    let text = bytes.trim_ascii();
    if text.is_empty() {
        return Err(ReadError::Empty);
    }
    let Some(version) = version(text) else { return Err(ReadError::Other) };
    if bytes.len() > MOST_BYTES {
        return Err(ReadError::Wrong(format!(
            "it has {} bytes, and none has more than {MOST_BYTES}",
            bytes.len()
        )));
    }
    match line::check(text) {
        Check::Right => {}
        Check::Wrong => return Err(ReadError::Damaged),
        // The check is the last thing in the file.
        Check::Absent => return Err(ReadError::Cut),
    }
    if version != SCHEMA {
        return Err(ReadError::Newer(version));
    }
    // Before the check stands the comma that parts it from the fields.
    let fields = text.len() - format!(",\"{}\":\"01234567\"}}", line::FIELD).len();
    let object = [&text[..fields], b"}"].concat();
    let partial: Partial =
        serde_json::from_slice(&object).map_err(|error| ReadError::Wrong(error.to_string()))?;
    possible(&partial).map_err(|what| ReadError::Wrong(what.to_owned()))?;
    Ok(partial)
}

/// The value of `schema`, which is the first field; `None` where the text is none of ours.
fn version(text: &[u8]) -> Option<String> {
    let rest = text.strip_prefix(br#"{"schema":""#)?;
    let end = rest.iter().take(64).position(|byte| *byte == b'"')?;
    let version = std::str::from_utf8(&rest[..end]).ok()?;
    version.starts_with("taskscale.partial/").then(|| version.to_owned())
}

/// The number of buckets and of powers of two of [`Counts`].
const BUCKETS: (u64, u64) = (252, 64);

/// Tells what in a partial cannot be: lists are as long and in the order that merging leaves, and
/// sums that are parts of others add up to these.
fn possible(partial: &Partial) -> Result<(), &'static str> {
    let is = |holds: bool, what: &'static str| if holds { Ok(()) } else { Err(what) };
    let Partial { time, losses, workers, names, account, .. } = partial;
    is(partial.sources > 0, "no source")?;
    let all = [
        losses.work_ns,
        losses.dispatch_ns,
        losses.serial_ns,
        losses.tail_ns,
        losses.starvation_ns,
        losses.preempted_ns,
        losses.outside_ns,
    ];
    let all = all.iter().fold(0u128, |sum, part| sum.saturating_add(*part));
    is(all == time.capacity_ns, "losses that do not add up to capacity_ns")?;
    let bags = [
        (&partial.ids, most::SOURCES),
        (&partial.hosts, most::HOSTS),
        (&partial.verdicts.reasons, most::TEXTS),
        (&account.formats, most::TEXTS),
        (&account.dropped, most::TEXTS),
        (&account.notes, most::TEXTS),
    ];
    for (bag, most) in bags {
        is(bag.kept.len() <= most, "more texts than are kept")?;
        is(bag.kept.is_sorted_by(|a, b| a.text < b.text), "texts out of order")?;
        let fit = |text: &str| text.len() <= most::SENTENCE_BYTES;
        is(bag.kept.iter().all(|counted| fit(&counted.text)), "a text that is too long")?;
    }
    is(partial.causes.is_sorted_by(|a, b| a.name < b.name), "causes out of order")?;
    let said = partial.causes.iter().filter_map(|cause| cause.worst.as_ref());
    let mut said = said.flat_map(|worst| [&worst.evidence, &worst.remedy, &worst.host]);
    is(said.all(|text| text.len() <= most::SENTENCE_BYTES), "a text that is too long")?;
    is(names.kept.len() <= most::NAMES, "more names than are kept")?;
    is(names.kept.is_sorted_by(|a, b| a.name < b.name), "names out of order")?;
    is(names.costliest.len() <= most::COSTLIEST, "more names than are kept")?;
    is(names.costliest.is_sorted(), "names out of order")?;
    is(workers.busiest.len() <= most::WORKERS && workers.least.len() <= most::WORKERS, "too many workers")?;
    is(workers.busiest.is_sorted(), "workers out of order")?;
    is(workers.least.is_sorted_by(|a, b| a >= b), "workers out of order")?;
    let listed = workers.active.min(most::WORKERS as u64) as usize;
    is([&workers.busiest, &workers.least].iter().all(|list| list.len() <= listed), "too many workers")?;
    is(partial.longest_ns.len() <= most::LONGEST, "too many durations")?;
    is(partial.longest_ns.is_sorted_by(|a, b| a >= b), "durations out of order")?;
    is(partial.longest.len() <= most::OUTLIERS, "too many spans")?;
    is(partial.longest.is_sorted(), "spans out of order")?;
    let delays = partial.queue.sums.as_ref().map(|queue| &queue.delays);
    [Some(&partial.durations), Some(&partial.gaps), delays].into_iter().flatten().try_for_each(counts)
}

fn counts(counts: &Counts) -> Result<(), &'static str> {
    let fits = |from: u64, list: &[u64], most: u64| {
        let ends = |at: Option<&u64>| at != Some(&0);
        from.checked_add(list.len() as u64).is_some_and(|end| end <= most)
            && (from == 0 || !list.is_empty())
            && ends(list.first())
            && ends(list.last())
    };
    let holds =
        fits(counts.from, &counts.counts, BUCKETS.0) && fits(counts.sums_from, &counts.sums, BUCKETS.1);
    let empty = counts.count == 0;
    match holds && counts.min <= counts.max && (!empty || (counts.max == 0 && counts.counts.is_empty())) {
        true => Ok(()),
        false => Err("a histogram that no durations give"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = include_str!("small.partial");

    #[test]
    fn what_was_written_is_read_and_written_again() {
        let partial = read(SMALL.as_bytes()).expect("a partial");
        assert_eq!(String::from_utf8_lossy(&write(&partial)), SMALL);
    }

    #[test]
    fn any_changed_byte_and_any_cut_is_found() {
        let line = SMALL.trim_end().as_bytes();
        for at in 0..line.len() {
            let mut changed = line.to_vec();
            changed[at] ^= 1;
            assert!(read(&changed).is_err(), "byte {at}");
            let error = read(&line[..at]).expect_err("a part");
            let known = [ReadError::Empty, ReadError::Other, ReadError::Cut];
            assert!(known.contains(&error), "{at} bytes: {error}");
        }
    }

    #[test]
    fn what_is_no_partial_is_told_from_what_is_damaged_or_newer() {
        assert_eq!(read(b"\n"), Err(ReadError::Empty));
        for other in ["[]", "{\"traceEvents\":[]}", "{\"schema\":\"taskscale.digest/1\"}", "\u{0}\u{1}"] {
            assert_eq!(read(other.as_bytes()), Err(ReadError::Other), "{other}");
        }
        let rewritten = |from: &str, to: &str| {
            let object = SMALL[..SMALL.len() - 21].to_owned() + "}";
            assert!(object.contains(from), "{from}");
            read(&line::checked(object.replacen(from, to, 1).into_bytes()))
        };
        assert!(rewritten("}", "}").is_ok());
        assert_eq!(rewritten("partial/1", "partial/2"), Err(ReadError::Newer("taskscale.partial/2".into())));
        assert_eq!(read(SMALL.replace("\"sources\":1", "\"sources\":2").as_bytes()), Err(ReadError::Damaged));
        for (from, to) in [
            ("\"sources\":1", "\"sources\":0"),
            ("\"sources\":1", "\"sources\":-1"),
            ("\"sources\":1", "\"sources\":1,\"more\":1"),
            ("\"work_ns\":", "\"work_ns\":1"),
            ("\"longest_ns\":[", "\"longest_ns\":[0,"),
        ] {
            assert!(matches!(rewritten(from, to), Err(ReadError::Wrong(_))), "{to}");
        }
        let long = SMALL.trim_end().to_owned() + &" ".repeat(MOST_BYTES) + "x";
        assert!(matches!(read(long.as_bytes()), Err(ReadError::Wrong(_))));
    }
}
