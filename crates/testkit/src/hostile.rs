//! Input made to hurt, made while it is read. `crates/cli/tests/hostile.rs` uses it at small sizes
//! and the experiment `hostile` at large ones.

use std::{
    fs,
    io::{self, BufWriter, Read, Write},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use flate2::{Compression, write::GzEncoder};

/// How much of each kind of input is fed.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// Bytes of one line.
    pub line: u64,
    /// Number of brackets inside one another.
    pub brackets: u64,
    /// Number of distinct names, workers or identifiers.
    pub count: u64,
    /// Number of begins without an end.
    pub begins: u64,
}

/// One hostile input, and how it must end.
pub struct Case {
    /// The case's name in tables.
    pub name: &'static str,
    /// The exit status: 0 where tasks were found, 2 where there were none.
    pub status: i32,
    /// Texts that the digest or the message must contain.
    pub says: &'static [&'static str],
    /// Megabytes that it may take above a digest of one event.
    pub mb: u64,
    /// Writes the input.
    pub feed: fn(&Sizes, &mut dyn Write) -> io::Result<()>,
}

/// The end of the process under a case.
#[derive(Debug)]
pub struct Ended {
    /// Bytes that were taken before the process ended or the input did.
    pub fed: u64,
    /// The exit status; `None` where a signal ended it.
    pub status: Option<i32>,
    /// The most memory that was resident when it was read: after the last byte, and every
    /// millisecond from then on.
    pub peak_rss: Option<u64>,
    /// Its standard output.
    pub out: String,
    /// Its standard error.
    pub err: String,
}

impl Ended {
    /// Returns the line that says what was wrong.
    pub fn message(&self) -> &str {
        let marks = ["not counted:", "note:"];
        let said = self.out.lines().find(|line| marks.iter().any(|mark| line.starts_with(mark)));
        self.err.lines().next().or(said).unwrap_or("")
    }
}

/// Megabytes that a reader and a digest may take, at any length of the input.
const MB: u64 = 16;
/// The same with as many workers as are told apart: 65,536 of about 1.1 kB.
const MB_WORKERS: u64 = 88;

/// An event that counts, one microsecond.
const EVENT: &str = r#"{"name":"a","ph":"X","pid":1,"tid":0,"ts":5,"dur":1}"#;
/// An event up to its arguments.
const OPEN: &str = r#"{"name":"b","ph":"X","pid":1,"tid":0,"ts":9,"dur":2,"args":"#;

pub const CASES: [Case; 26] = [
    Case {
        name: "one line: a string in args",
        status: 0,
        says: &["2 tasks", "1 event longer than 4 MiB"],
        mb: MB,
        feed: |sizes, out| {
            write!(out, "[{EVENT},{OPEN}{{\"text\":\"")?;
            repeat(out, b"all \\\" in { one [ str\\\\", sizes.line)?;
            write!(out, "\"}}}},{EVENT}]")
        },
    },
    Case {
        name: "one line: a name that never ends",
        status: 0,
        says: &["1 task ", "longer than 4 MiB"],
        mb: MB,
        feed: |sizes, out| {
            write!(out, "[{EVENT},{{\"name\":\"")?;
            repeat(out, b"without an end ", sizes.line)
        },
    },
    Case {
        name: "one line: arrays in args",
        status: 0,
        says: &["2 tasks", "1 event longer than 4 MiB"],
        mb: MB,
        feed: |sizes, out| {
            write!(out, "[{EVENT},{OPEN}[0")?;
            repeat(out, b",[1,[2,\"]\"]],{\"a\":[]}", sizes.line)?;
            write!(out, "]}},{EVENT}]")
        },
    },
    Case {
        name: "one line: a member before the events",
        status: 0,
        says: &["1 task "],
        mb: MB,
        feed: |sizes, out| {
            write!(out, "{{\"file_info\":{{\"source\":\"")?;
            repeat(out, b"import os\\n", sizes.line)?;
            write!(out, "\"}},\"traceEvents\":[{EVENT}]}}")
        },
    },
    Case {
        name: "one line: members, and never events",
        status: 2,
        says: &["no task was counted"],
        mb: MB,
        feed: |sizes, out| {
            write!(out, "{{\"k\":0")?;
            repeat(out, b",\"key\":{\"and\":\"no events\"}", sizes.line)?;
            write!(out, "}}")
        },
    },
    Case {
        name: "one line: prose",
        status: 2,
        says: &["not a task trace"],
        mb: MB,
        feed: |sizes, out| repeat(out, b"Dear reader, ", sizes.line),
    },
    Case {
        name: "one line: blanks",
        status: 2,
        says: &["the input"],
        mb: MB,
        feed: |sizes, out| repeat(out, b" \t\n", sizes.line),
    },
    Case {
        name: "one line: blanks, packed a thousandfold",
        status: 0,
        says: &["1 task "],
        mb: MB,
        feed: |sizes, out| {
            let gzip = |data: &[u8]| {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
                encoder.write_all(data).and_then(|()| encoder.finish())
            };
            let blanks = gzip(&[b' '; 1 << 20])?;
            out.write_all(&gzip(b"[")?)?;
            repeat(out, &blanks, blanks.len() as u64 * 20 * (sizes.line >> 20))?;
            out.write_all(&gzip(format!("{EVENT}]").as_bytes())?)
        },
    },
    Case {
        name: "one line: a ninja log",
        status: 2,
        says: &["longer than 4 MiB"],
        mb: MB,
        feed: |sizes, out| {
            write!(out, "# ninja log v5\n1\t2\t3\t")?;
            repeat(out, b"out.o", sizes.line)
        },
    },
    Case {
        name: "nested brackets in args, closed",
        status: 0,
        says: &["3 tasks"],
        mb: MB,
        feed: |sizes, out| {
            write!(out, "[{EVENT},{OPEN}")?;
            repeat(out, b"[", sizes.brackets.min(1_000_000))?;
            repeat(out, b"]", sizes.brackets.min(1_000_000))?;
            write!(out, "}},{EVENT}]")
        },
    },
    Case {
        name: "nested brackets, never closed",
        status: 2,
        says: &["1 of 1 events are malformed"],
        mb: MB,
        feed: |sizes, out| repeat(out, b"[", sizes.brackets),
    },
    Case {
        name: "nested objects, never closed",
        status: 0,
        says: &["1 task "],
        mb: MB,
        feed: |sizes, out| {
            write!(out, "[{EVENT}")?;
            repeat(out, b",{\"a\":", 6 * sizes.brackets)
        },
    },
    Case {
        name: "distinct names",
        status: 0,
        says: &["names:"],
        mb: MB,
        feed: |sizes, out| {
            each(out, sizes.count, |out, i| {
                out.extend_from_slice(b"{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"dur\":1,\"ts\":");
                decimal(out, 2 * i);
                out.extend_from_slice(b",\"name\":\"step ");
                decimal(out, i.wrapping_mul(0x9E37_79B9_7F4A_7C15));
                out.extend_from_slice(b"\"},");
            })
        },
    },
    Case {
        name: "distinct names of 100 kB",
        status: 0,
        says: &["names:"],
        mb: MB,
        feed: |sizes, out| {
            let long = "n".repeat(100_000);
            each(out, sizes.count / 2_000, |out, i| {
                write!(
                    out,
                    "{{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"dur\":1,\"ts\":{i},\"name\":\"{i}{long}\"}},"
                )
                .expect("a vector takes all");
            })
        },
    },
    Case {
        name: "distinct workers (integers)",
        status: 0,
        says: &["beyond the first 65536"],
        mb: MB_WORKERS,
        feed: |sizes, out| {
            each(out, sizes.count, |out, i| {
                out.extend_from_slice(b"{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"dur\":1,\"tid\":");
                decimal(out, i);
                out.extend_from_slice(b",\"ts\":");
                decimal(out, i);
                out.extend_from_slice(b"},");
            })
        },
    },
    Case {
        name: "distinct workers (strings)",
        status: 0,
        says: &["beyond the first 65536"],
        mb: MB_WORKERS,
        feed: |sizes, out| {
            each(out, sizes.count, |out, i| {
                out.extend_from_slice(b"{\"ph\":\"X\",\"name\":\"a\",\"dur\":1,\"ts\":1,\"tid\":\"worker:");
                decimal(out, i.wrapping_mul(0x9E37_79B9_7F4A_7C15));
                out.extend_from_slice(b"\",\"pid\":\"node ");
                decimal(out, i);
                out.extend_from_slice(b"\"},");
            })
        },
    },
    Case {
        name: "distinct Dask workers",
        status: 0,
        says: &["on 65536 workers", "beyond the first 65536"],
        mb: MB_WORKERS,
        feed: |sizes, out| {
            each(out, sizes.count, |out, i| {
                out.extend_from_slice(
                    b"{\"startstops\":[{\"action\":\"compute\",\"start\":1.5,\"stop\":1.75}],",
                );
                out.extend_from_slice(b"\"key\":\"k\",\"thread\":1,\"worker\":\"tcp://");
                decimal(out, i);
                out.extend_from_slice(b"\"},");
            })
        },
    },
    Case {
        name: "ninja edges that all overlap",
        status: 0,
        says: &["the peak of edges at once"],
        mb: MB_WORKERS,
        feed: |sizes, out| {
            writeln!(out, "# ninja log v5")?;
            each_line(out, sizes.count, |out, i| {
                out.extend_from_slice(b"0\t");
                decimal(out, 1_000 + i);
                out.extend_from_slice(b"\t3\tout");
                decimal(out, i);
                out.extend_from_slice(b".o\tff\n");
            })
        },
    },
    Case {
        name: "times: negative, overflowing, NaN",
        status: 0,
        says: &["out of range", "not a number", "not counted: "],
        mb: MB,
        feed: |sizes, out| {
            let times = [
                ("5", "1"),
                ("5", "-1"),
                ("-9223372036854775", "1"),
                ("9223372036854775807", "1"),
                ("99999999999999999999999999", "1"),
                ("0", "99999999999999999999999999"),
                ("NaN", "1"),
                ("Infinity", "1"),
                ("1e308", "-1e308"),
                ("-1e-308", "1e-99999999999"),
                ("1e99999999999", "1"),
                ("null", "1"),
                ("[]", "{}"),
                ("\"5\"", "\"1\""),
            ];
            each(out, sizes.count, |out, i| {
                // If most were impossible the file would be refused.
                let (ts, dur) = times[if i % 2 == 0 { 0 } else { i as usize / 2 % times.len() }];
                out.extend_from_slice(b"{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":");
                out.extend_from_slice(ts.as_bytes());
                out.extend_from_slice(b",\"dur\":");
                out.extend_from_slice(dur.as_bytes());
                out.extend_from_slice(b"},");
            })
        },
    },
    Case {
        name: "binary garbage",
        status: 2,
        says: &["not a task trace"],
        mb: MB,
        feed: |sizes, out| garbage(out, sizes.line / 10),
    },
    Case {
        name: "binary garbage in a list",
        status: 2,
        says: &["events are malformed; the first stands at byte 54", "malformed"],
        mb: MB,
        feed: |sizes, out| {
            write!(out, "[{EVENT},")?;
            garbage(out, sizes.line / 10)
        },
    },
    Case {
        name: "binary garbage in a .tfp",
        status: 2,
        says: &["no task was counted"],
        mb: MB,
        feed: |sizes, out| {
            out.write_all(b"TFPX\x01\0\0\0\x01\0\0\0")?;
            garbage(out, sizes.line / 10)
        },
    },
    Case {
        name: "a .tfp whose table of names is 4 GB",
        status: 2,
        says: &["no task was counted"],
        mb: MB,
        feed: |sizes, out| {
            out.write_all(b"TFPX\x01\0\0\0\x01\0\0\0\x07\0\0\0\0\0\0\0\x40\x42\x0F\0\0\0\0\0")?;
            out.write_all(b"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF")?;
            repeat(out, b"name", sizes.line.min(u64::from(u32::MAX)))
        },
    },
    Case {
        name: "B without an E, one thread",
        status: 2,
        says: &["begin without an end", "begin forgotten"],
        mb: MB,
        feed: |sizes, out| {
            each(out, sizes.begins, |out, _| {
                out.extend_from_slice(
                    b"{\"name\":\"never ended\",\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":5},",
                );
            })
        },
    },
    Case {
        name: "B without an E, a thread each",
        status: 2,
        says: &["begin without an end", "begin forgotten"],
        mb: MB_WORKERS,
        feed: |sizes, out| {
            each(out, sizes.begins, |out, i| {
                out.extend_from_slice(b"{\"name\":\"n\",\"ph\":\"B\",\"pid\":1,\"ts\":5,\"tid\":");
                decimal(out, i);
                out.extend_from_slice(b"},");
            })
        },
    },
    Case {
        name: "b without an e, an id each",
        status: 2,
        says: &["begin without an end", "begin forgotten"],
        mb: MB,
        feed: |sizes, out| {
            each(out, sizes.begins, |out, i| {
                out.extend_from_slice(
                    b"{\"name\":\"T_CALLBACK\",\"ph\":\"b\",\"cat\":\"node,node.async_hooks\",\"pid\":1,\"tid\":1,\"ts\":5,\"id\":\"0x",
                );
                decimal(out, i);
                out.extend_from_slice(b"\"},");
            })
        },
    },
];

/// Feeds a case to `binary digest -` and waits for the end.
///
/// # Errors
/// The process cannot be started, fed or waited for.
pub fn run(
    binary: &Path,
    sizes: &Sizes,
    feed: fn(&Sizes, &mut dyn Write) -> io::Result<()>,
) -> io::Result<Ended> {
    let mut child = Command::new(binary)
        .args(["digest", "-"])
        .env("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let (out, err) = (drain(child.stdout.take()), drain(child.stderr.take()));
    let mut input = BufWriter::with_capacity(1 << 20, Counted { to: child.stdin.take(), bytes: 0 });
    // A process that has read enough closes the pipe.
    let fed = feed(sizes, &mut input).and_then(|()| input.flush());
    if let Err(error) = fed.as_ref()
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        child.kill()?;
        child.wait()?;
        fed?;
    }
    let mut peak_rss = peak_rss(&child);
    let (counted, _) = input.into_parts();
    let fed = counted.bytes;
    drop(counted);
    let status = loop {
        match child.try_wait()? {
            Some(status) => break status.code(),
            None => thread::sleep(Duration::from_millis(1)),
        }
        peak_rss = peak_rss.max(self::peak_rss(&child));
    };
    let text = |thread: thread::JoinHandle<Vec<u8>>| {
        String::from_utf8_lossy(&thread.join().unwrap_or_default()).into_owned()
    };
    // Words are broken at the width of a terminal.
    let err = text(err).replace("\n  ", " ");
    Ok(Ended { fed, status, peak_rss, out: text(out), err })
}

struct Counted<W> {
    to: Option<W>,
    bytes: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.as_mut().map_or(Ok(bytes.len()), |to| to.write(bytes))?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.as_mut().map_or(Ok(()), Write::flush)
    }
}

fn drain(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What was read before an error is all that can be shown.
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

/// Returns `VmHWM` of a process; `None` where it has ended, or where there is no `/proc`.
fn peak_rss(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib << 10)
}

/// Writes a piece again and again. The sum is `bytes`, or a part of a piece more.
fn repeat(out: &mut dyn Write, piece: &[u8], bytes: u64) -> io::Result<()> {
    let times = (1 << 16) / piece.len() as u64 + 1;
    let block = piece.repeat(times as usize);
    let pieces = bytes.div_ceil(piece.len() as u64);
    for _ in 0..pieces / times {
        out.write_all(&block)?;
    }
    out.write_all(&block[..(pieces % times) as usize * piece.len()])
}

/// Writes a list of made elements, without its last bracket.
fn each(out: &mut dyn Write, count: u64, make: impl FnMut(&mut Vec<u8>, u64)) -> io::Result<()> {
    out.write_all(b"[")?;
    each_line(out, count, make)
}

fn each_line(out: &mut dyn Write, count: u64, mut make: impl FnMut(&mut Vec<u8>, u64)) -> io::Result<()> {
    let mut block = Vec::new();
    for i in 0..count {
        make(&mut block, i);
        if block.len() >= 1 << 16 {
            out.write_all(&block)?;
            block.clear();
        }
    }
    out.write_all(&block)
}

/// Writes bytes without a pattern: xorshift64 from a fixed seed.
fn garbage(out: &mut dyn Write, bytes: u64) -> io::Result<()> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    for _ in 0..bytes / 8 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        out.write_all(&state.to_le_bytes())?;
    }
    Ok(())
}

fn decimal(out: &mut Vec<u8>, mut value: u64) {
    let mut digits = [b'0'; 20];
    let mut at = digits.len() - 1;
    while value > 9 {
        digits[at] += (value % 10) as u8;
        value /= 10;
        at -= 1;
    }
    digits[at] += value as u8;
    out.extend_from_slice(&digits[at..]);
}
