//! Reads traces that gzip or zstd has packed, whole and damaged. What is unpacked must give what
//! the plain file gives, as far as it goes, and the account must say how far that is.

use std::io::{Cursor, Read, Write};

use flate2::{Compression, write::GzEncoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use taskscale_model::span::{Account, Span};
use taskscale_trace::{Options, TraceError, read};

/// A trace of 1,200 tasks on four workers, as text.
fn trace() -> Vec<u8> {
    let event = |worker: u32, task: u32| {
        let name = format!("{worker}_{task}");
        let ts = 600 * task;
        format!(
            r#"{{"cat":"ChromeObserver","name":"{name}","ph":"X","pid":1,"tid":{worker},"ts":{ts},"dur":500}}"#
        )
    };
    let events: Vec<String> =
        (0..4).flat_map(|worker| (0..300).map(move |task| event(worker, task))).collect();
    format!("[{}]", events.join(",")).into_bytes()
}

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(data).expect("a vector takes all");
    encoder.finish().expect("a vector takes all")
}

fn zstd(data: &[u8]) -> Vec<u8> {
    compress_to_vec(data, CompressionLevel::Fastest)
}

fn account(file: impl Read) -> Result<Account, TraceError> {
    let mut spans = 0;
    let account = read(file, &Options::default(), &mut |_: &Span<'_>| spans += 1)?;
    let dropped: u64 = account.dropped.iter().map(|dropped| dropped.events).sum();
    assert_eq!((spans, account.seen), (account.counted, account.counted + dropped));
    Ok(account)
}

fn error(file: &[u8]) -> String {
    account(file).expect_err("no trace").to_string()
}

/// Gives one byte at a time.
struct Drops<'a>(&'a [u8]);

impl Read for Drops<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = buffer.len().min(1);
        self.0.read(&mut buffer[..n])
    }
}

#[test]
fn packed_traces_give_what_the_plain_ones_give() {
    let plain = trace();
    let expected = account(&plain[..]).expect("a trace");
    assert_eq!((expected.counted, expected.bytes), (1_200, plain.len() as u64));
    // `zstd -19 --check` of the tool itself wrote this one.
    let by_the_tool = include_bytes!("corpus/taskflow.json.zst").to_vec();
    for packed in [gzip(&plain), zstd(&plain), by_the_tool] {
        assert!(packed.len() < plain.len() / 2);
        assert_eq!(account(&packed[..]).expect("a trace"), expected);
        assert_eq!(account(Drops(&packed)).expect("a trace"), expected, "in pieces of one byte");
    }
}

#[test]
fn members_and_frames_follow_one_another() {
    let plain = trace();
    let expected = account(&plain[..]).expect("a trace");
    let (first, second) = plain.split_at(20_011);
    for pack in [gzip, zstd] {
        let file = [pack(first), pack(b""), pack(second)].concat();
        assert_eq!(account(&file[..]).expect("a trace"), expected);
        assert_eq!(account(Drops(&file)).expect("a trace"), expected);
    }
    // A frame that holds no data comes first in files of `pzstd`, and last in seekable ones.
    let empty = [&b"\x5A\x2A\x4D\x18\x03\0\0\0abc"[..]].concat();
    let file = [&empty[..], &zstd(first), &empty, &zstd(second), &empty].concat();
    assert_eq!(account(&file[..]).expect("a trace"), expected);
}

#[test]
fn a_cut_file_counts_as_far_as_it_goes_and_says_so() {
    let plain = trace();
    for (pack, name) in [(gzip as fn(&[u8]) -> Vec<u8>, "gzip"), (zstd, "zstd")] {
        let file = [pack(&plain[..60_000]), pack(&plain[60_000..])].concat();
        let cut = account(&file[..file.len() - 700]).expect("a part of a trace");
        assert!((600..1_200).contains(&cut.counted), "{name}: {cut:?}");
        assert!(cut.notes[0].contains(&format!("the {name} data end too early")), "{:?}", cut.notes);
        // Any cut ends, and what is too short for a trace is an error that says why.
        for length in 0..300 {
            if let Err(error) = account(&file[..length]) {
                let cause = if length < 4 { "" } else { "end too early" };
                assert!(error.to_string().contains(cause), "{name} of {length}: {error}");
            }
        }
    }
}

#[test]
fn corrupt_data_end_with_a_clear_line() {
    let plain = trace();
    let mut file = [gzip(&plain[..60_000]), gzip(&plain[60_000..])].concat();
    let place = file.len() - 900;
    file[place..place + 40].fill(0xFF);
    let account = account(&file[..]).expect("a part of a trace");
    assert!(account.counted > 600 && account.notes[0].contains("the gzip data are corrupt"), "{account:?}");
    // The sum behind the data is wrong, and nothing else.
    let mut file = gzip(&plain);
    let place = file.len() - 6;
    file[place] ^= 1;
    let account = self::account(&file[..]).expect("a trace");
    assert!(account.counted == 1_200 && account.notes[0].contains("corrupt"), "{account:?}");
    let mut file = zstd(&plain);
    let place = file.len() - 2;
    file[place] ^= 1;
    let account = self::account(&file[..]).expect("a trace");
    assert!(account.counted == 1_200 && account.notes[0].contains("corrupt"), "{account:?}");

    assert!(
        error(b"\x1F\x8B\x08\0\0\0\0\0\0\xFF\xFF\xFF\xFF\xFF garbage").contains("the gzip data are corrupt")
    );
    assert!(
        error(b"\x28\xB5\x2F\xFD\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF")
            .contains("the zstd data")
    );
    assert!(error(b"\x1F\x8B").contains("end too early"));
}

#[test]
fn what_follows_packed_data_is_not_read_and_not_hidden() {
    for pack in [gzip, zstd] {
        let file = [pack(&trace()), b"and so on".to_vec()].concat();
        let account = account(&file[..]).expect("a trace");
        assert_eq!(account.counted, 1_200);
        assert!(account.notes[0].contains("stands behind the"), "{:?}", account.notes);
    }
}

#[test]
fn other_packings_name_their_remedy() {
    for (head, words) in [
        (&b"\xFD7zXZ\0\0\x04"[..], "xz -dc FILE | taskscale digest -"),
        (b"PK\x03\x04\x14\0\0\0", "unzip -p FILE | taskscale digest -"),
        (b"BZh91AY&SY", "bzip2 -dc FILE | taskscale digest -"),
    ] {
        assert!(error(head).contains(words), "{}", error(head));
    }
    assert!(error(&gzip(&gzip(&trace()))).contains("packed twice"));
}

#[test]
fn a_large_window_is_refused_with_the_command_that_takes_it() {
    // The header of a frame: no size, a window of 2^(10 + n) bytes, and an empty last block.
    let frame = |n: u8| [&b"\x28\xB5\x2F\xFD\0"[..], &[n << 3], b"\x01\0\0"].concat();
    assert!(error(&frame(18)).contains("zstd -dc --long=31"), "{}", error(&frame(18)));
    assert!(error(&frame(31)).contains("look back"), "{}", error(&frame(31)));
    assert!(error(&frame(17)).contains("the input is empty"), "128 MiB are taken");
    // One segment: the window is the size of the content, here 2^60 bytes.
    let segment = [&b"\x28\xB5\x2F\xFD\xE0"[..], &(1u64 << 60).to_le_bytes(), b"\x01\0\0"].concat();
    assert!(error(&segment).contains("look back"), "{}", error(&segment));
}

#[test]
fn a_bomb_streams() {
    // One member of 1 MiB of blanks, 100 times, between the ends of a trace.
    let blanks = gzip(&vec![b' '; 1 << 20]);
    let plain = trace();
    let (head, tail) = (gzip(&plain[..1]), gzip(&plain[1..]));
    let bomb = head.chain(Cursor::new(blanks.repeat(100))).chain(&tail[..]);
    let account = account(bomb).expect("a trace");
    assert_eq!((account.counted, account.bytes), (1_200, plain.len() as u64 + (100 << 20)));
}

#[test]
fn changed_bytes_neither_panic_nor_lose_events() {
    let plain = trace();
    let mut random = fastrand::Rng::with_seed(7);
    for pack in [gzip, zstd] {
        let file = [pack(&plain[..30_000]), pack(&plain[30_000..])].concat();
        for _ in 0..200 {
            let mut file = file.clone();
            for _ in 0..random.usize(1..4) {
                let place = random.usize(0..file.len());
                file[place] = random.u8(..);
            }
            // `account` checks the books.
            let _ = account(&file[..]);
        }
    }
}

/// An input that fails is no damaged file: the error says so.
#[test]
fn errors_of_the_input_come_through() {
    struct Fails(Vec<u8>);
    impl Read for Fails {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            if self.0.is_empty() {
                return Err(std::io::Error::other("disk on fire"));
            }
            let n = self.0.len().min(buffer.len()).min(1_000);
            buffer[..n].copy_from_slice(&self.0[..n]);
            self.0.drain(..n);
            Ok(n)
        }
    }
    let plain = trace();
    for file in [plain.clone(), gzip(&plain), zstd(&plain), b"\x28\xB5\x2F\xFD".to_vec(), Vec::new()] {
        let length = file.len().min(2_000);
        let error = account(Fails(file[..length].to_vec())).expect_err("fails").to_string();
        assert!(error.contains("disk on fire"), "{error}");
    }
}
