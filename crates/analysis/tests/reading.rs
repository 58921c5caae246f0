//! What a run file may look like, and what it may not look like.

use taskscale_analysis::{ReadError, Run, parse_run, read::MAX_LINE, salvage_run, summarize};
use taskscale_model::{run_file::line, summary::RowStatus};

const QUICK: &str = include_str!("data/quick.jsonl");

fn first_lines(count: usize) -> String {
    QUICK.split_inclusive('\n').take(count).collect()
}

#[test]
fn a_whole_file_is_read_without_notes() {
    let run = parse_run(QUICK).expect("a run file");
    assert_eq!(run.notes, Vec::<String>::new());
    assert_eq!((run.runtimes.len(), run.rows.len(), run.row_ends.len(), run.rounds.len()), (3, 36, 36, 80));
    assert!(run.ended.is_some());
}

#[test]
fn a_measurement_that_is_not_in_its_place_is_told() {
    let lines: Vec<&str> = QUICK.split_inclusive('\n').collect();
    let samples: Vec<usize> =
        (0..lines.len()).filter(|at| lines[*at].contains(r#""type":"sample""#)).collect();
    let without = |gone: &[usize]| {
        let kept = lines.iter().enumerate().filter(|(at, _)| !gone.contains(at));
        parse_run(kept.map(|(_, line)| *line).collect::<String>()).expect("a run file").altered
    };
    assert_eq!(without(&[]), None);
    // A run that was killed ends early.
    assert_eq!(without(&(samples[9]..lines.len()).collect::<Vec<_>>()), None);
    let said = without(&samples[4..5]).expect("one is missing");
    assert!(said.contains("removed: 1 measurement is missing, the first before measurement 5"), "{said}");
    let said = without(&samples[..3]).expect("three are missing");
    assert!(said.contains("3 measurements are missing, the first before measurement 3"), "{said}");
    let mut swapped = lines.clone();
    swapped.swap(samples[4], samples[5]);
    let run = parse_run(swapped.concat()).expect("a run file");
    let said = "lines of the file were moved: measurement 4 stands behind measurement 5";
    assert_eq!((run.altered.as_deref(), &*run.notes), (Some(said), &[said.to_owned()][..]));
    // What is damaged is told as such, and leaves a gap.
    let damaged = lines[..samples[4]].concat() + "damaged\n" + &lines[samples[5]..].concat();
    let run = salvage_run(damaged).expect("a run file");
    assert!(run.altered.is_none() && run.notes.len() == 1, "{:?}", run.notes);
}

/// No number of a file is too large to count on from.
#[test]
fn the_largest_order_is_a_gap_and_no_panic() {
    let mut lines: Vec<String> = QUICK.split_inclusive('\n').map(str::to_owned).collect();
    let last = lines.iter().rposition(|line| line.contains(r#""type":"sample""#)).expect("a sample");
    let (front, behind) = lines[last].split_once(r#""order":"#).expect("an order");
    let behind = behind.trim_start_matches(|c: char| c.is_ascii_digit());
    lines[last] = format!(r#"{front}"order":{}{behind}"#, u64::MAX);
    let said = parse_run(lines.concat()).expect("a run file").altered.expect("a gap");
    assert!(said.contains("the first before measurement 18446744073709551615"), "{said}");
}

/// No sum of times is too large either.
#[test]
fn the_longest_samples_of_a_warm_up_are_no_panic() {
    const FIELDS: [&str; 2] = [r#""cpu_ns":"#, r#""settle_ms":"#];
    let jit = include_str!("data/jit.jsonl");
    let largest = |line: &str| {
        FIELDS.iter().fold(line.to_owned(), |line, field| match line.split_once(field) {
            None => line,
            Some((front, behind)) => {
                let behind = behind.trim_start_matches(|c: char| c.is_ascii_digit());
                format!("{front}{field}{}{behind}", u64::MAX)
            }
        })
    };
    let text: String = jit.split_inclusive('\n').map(largest).collect();
    let summary = summarize(&parse_run(text).expect("a run file"));
    assert!(!summary.rows.is_empty());
}

/// The file with the numbers of its records in its last line.
fn counted() -> Vec<String> {
    let mut lines: Vec<String> = QUICK.split_inclusive('\n').map(str::to_owned).collect();
    let run = parse_run(QUICK).expect("a run file");
    let records = format!(
        r#","records":{{"runtime":{},"row":{},"sample":{},"round":{},"count":{},"row_end":{}}}}}"#,
        run.runtimes.len(),
        run.rows.len(),
        run.samples.len(),
        run.rounds.len(),
        run.counts.len(),
        run.row_ends.len()
    );
    let end = lines.last_mut().expect("an end");
    *end = format!("{}{records}\n", end.trim_end().strip_suffix('}').expect("an object"));
    lines
}

#[test]
fn a_line_that_is_missing_or_double_is_told_by_its_kind() {
    let lines = counted();
    let whole = parse_run(lines.concat()).expect("a run file");
    assert_eq!((&whole.notes[..], whole.rows.len()), (&[][..], 36));
    for (kind, fewer, more) in [
        ("runtime", "the run says 3 runtimes, 2 are here", "the run says 3 runtimes, 4 are here"),
        ("row", "the run says 36 rows, 35 are here", "row 0 is declared twice"),
        ("round", "the run says 80 rounds, 79 are here", "the run says 80 rounds, 81 are here"),
        ("row_end", "the run says 36 ends of rows, 35 are here", "the run says 36 ends of rows, 37 are here"),
        ("sample", "1 measurement is missing, the first before measurement 1", "repeats the sample"),
        ("end", "", "a second end"),
    ] {
        let is_it = |line: &String| line.starts_with(&format!("{{\"type\":\"{kind}\""));
        let at = lines.iter().position(is_it).expect("such a line");
        let (mut removed, mut doubled) = (lines.clone(), lines.clone());
        removed.remove(at);
        doubled.insert(at, lines[at].clone());
        // Without its end a file is that of a run that was killed.
        if kind != "end" {
            let error = parse_run(removed.concat()).expect_err("one is missing").to_string();
            assert!(error.contains(fewer) && error.contains("--salvage"), "{error}");
            let run = salvage_run(removed.concat()).expect("a run file");
            assert!(run.altered.is_some_and(|told| told.starts_with("the run says")), "{kind}");
        }
        let error = parse_run(doubled.concat()).expect_err("one is double").to_string();
        assert!(error.contains(more) && error.contains("--salvage"), "{error}");
        salvage_run(doubled.concat()).expect("a run file");
    }
}

#[test]
fn every_cut_is_readable() {
    // A kill can come at any byte behind the header.
    let header = first_lines(1).len();
    for cut in (header..QUICK.len()).step_by(997) {
        let run = parse_run(&QUICK[..cut]).unwrap_or_else(|error| panic!("cut at {cut}: {error}"));
        assert!(run.ended.is_none());
        let cut_in_a_line = !QUICK[..cut].ends_with('\n') && !QUICK[cut..].starts_with('\n');
        assert_eq!(run.notes.len(), usize::from(cut_in_a_line), "cut at {cut}: {:?}", run.notes);
    }
}

#[test]
fn a_cut_inside_a_character_is_readable() {
    let mut bytes = first_lines(3).into_bytes();
    bytes.extend_from_slice("{\"type\":\"runtime\",\"id\":\"\u{e9}".as_bytes());
    bytes.pop();
    assert_eq!(parse_run(&bytes).expect("a run file").runtimes.len(), 2);
}

#[test]
fn a_killed_run_prints_what_it_has() {
    let run = parse_run(&QUICK[..QUICK.len() * 3 / 5]).expect("a run file");
    let summary = summarize(&run);
    assert!(!summary.complete);
    let of = |size: u64, status: RowStatus| {
        summary.rows.iter().filter(|row| row.key.size == size && row.status() == status).count()
    };
    assert_eq!((of(64, RowStatus::Ok), of(128, RowStatus::Ok)), (8, 8));
    let cut = summary
        .rows
        .iter()
        .filter(|row| row.key.size == 256)
        .find_map(|row| row.figures())
        .expect("the cell it died in");
    assert!((1..20).contains(&cut.cpu.of.n) && cut.stop.is_none(), "{cut:?}");
    let never = summary.rows.iter().find(|row| row.key.size == 512).expect("planned");
    let why = never.missing().map(|missing| &*missing.reason);
    assert_eq!(why, Some("the run ended before this row was measured"));
    assert!(summary.notes[0].starts_with("the run was cut short; 8 rows"), "{}", summary.notes[0]);
}

#[test]
fn damage_is_named_with_its_line() {
    let broken = first_lines(5).replacen("{\"type\":\"runtime\"", "{\"type\":\"runtime", 1) + "{}\n";
    let error = parse_run(&broken).expect_err("damaged").to_string();
    assert!(error.starts_with("line 2 is damaged: not JSON"), "{error}");
    let shapeless = first_lines(2) + "{\"type\":\"row\"}\n" + &first_lines(9)[first_lines(8).len()..];
    let error = parse_run(&shapeless).expect_err("damaged").to_string();
    assert!(error.starts_with("line 3 is damaged: missing field"), "{error}");
    let twice = first_lines(2) + &first_lines(1);
    assert!(matches!(parse_run(&twice), Err(ReadError::Broken { line: 3, .. })));
    let complete_but_wrong = first_lines(2) + "junk\n";
    assert!(
        matches!(parse_run(&complete_but_wrong), Err(ReadError::Broken { line: 3, .. })),
        "a whole last line"
    );
}

#[test]
fn other_schemas_and_other_files_are_told_apart() {
    let later = QUICK.replacen("taskscale.run/1", "taskscale.run/2", 1);
    let error = parse_run(&later).expect_err("another schema").to_string();
    assert!(error.contains("\"taskscale.run/2\"") && error.contains("\"taskscale.run/1\""), "{error}");
    assert_eq!(parse_run(""), Err(ReadError::Empty));
    assert_eq!(parse_run("{\"type\":\"hea"), Err(ReadError::Empty));
    for other in ["hello\n", "[]\n", "{\"traceEvents\":[]}\n", "{\"type\":\"end\",\"elapsed_s\":1}\n"] {
        assert!(matches!(parse_run(other), Err(ReadError::NotARun { .. })), "{other}");
    }
}

#[test]
fn what_a_later_version_adds_is_skipped_and_counted() {
    let added = first_lines(2).replacen("\"workers\":2", "\"workers\":2,\"colour\":\"red\"", 1)
        + "{\"type\":\"weather\",\"sky\":\"blue\"}\n{\"type\":\"weather\"}\n";
    let run = parse_run(&added).expect("a run file");
    assert_eq!(
        run.notes,
        [
            "skipped records of types this build does not know: weather (2)",
            "ignored fields this build does not know: runtime.colour (1)",
        ]
    );
}

#[test]
fn a_line_without_end_is_refused() {
    let long = first_lines(2) + &"x".repeat(MAX_LINE + 1) + "\n";
    assert_eq!(parse_run(&long), Err(ReadError::TooLong { line: 3 }));
}

#[test]
fn a_mark_before_the_first_line_is_no_part_of_it() {
    let marked = format!("\u{feff}{QUICK}");
    assert_eq!(parse_run(marked).expect("a run file"), parse_run(QUICK).expect("a run file"));
}

#[test]
fn an_elapsed_time_that_cannot_be_is_none() {
    let lasted = |elapsed_s: f64| {
        let mut run = parse_run(QUICK).expect("a run file");
        run.ended.as_mut().expect("its end").elapsed_s = elapsed_s;
        summarize(&run).overview.elapsed_s
    };
    assert_eq!([lasted(0.0), lasted(72.5)], [Some(0.0), Some(72.5)]);
    assert_eq!([-1e308, -1.0, 1e308, f64::NAN].map(lasted), [None; 4]);
}

/// The file with a check in each line.
fn checked() -> Vec<u8> {
    QUICK.lines().flat_map(|line| line::checked(line.as_bytes().to_vec())).collect()
}

#[test]
fn a_changed_digit_is_found_and_named_with_its_line() {
    let whole = checked();
    let run = parse_run(&whole).expect("a run file");
    assert!(run.is_checked && run.notes.is_empty());
    assert_eq!(run.samples, parse_run(QUICK).expect("a run file").samples);
    let lines: Vec<&[u8]> = whole.split_inclusive(|&byte| byte == b'\n').collect();
    for number in [2, 77, 400, lines.len()] {
        let line = String::from_utf8_lossy(lines[number - 1]).into_owned();
        let at = line.find(|c: char| c.is_ascii_digit()).expect("a digit");
        let other = if &line[at..=at] == "1" { "2" } else { "1" };
        let changed = format!("{}{other}{}", &line[..at], &line[at + 1..]);
        let bytes = [&lines[..number - 1].concat(), changed.as_bytes(), &lines[number..].concat()].concat();
        let error = parse_run(&bytes).expect_err("a changed digit").to_string();
        let words = format!("line {number} is damaged: it is not what was written: its check does not fit");
        assert!(error.starts_with(&words) && error.contains("--salvage"), "{error}");
        let salvaged = salvage_run(&bytes).expect("the others");
        let note = format!("left out 1 damaged line: {number} (it is not what was written");
        assert!(salvaged.notes.len() == 1 && salvaged.notes[0].starts_with(&note), "{:?}", salvaged.notes);
    }
    let header = String::from_utf8_lossy(&whole).replacen("\"seed\":", "\"seed\":1", 1);
    let error = parse_run(&header).expect_err("a changed header").to_string();
    assert!(error.starts_with("line 1, the header, is damaged") && error.contains("--salvage"), "{error}");
    // Its check does not fit, and it can be read: so can all that is behind it.
    let salvaged = salvage_run(&header).expect("a run");
    assert_eq!((&salvaged.samples, salvaged.damaged_lines), (&run.samples, 1));
    assert!(salvaged.notes[0].contains("is damaged (it is not what was written"), "{:?}", salvaged.notes);
    let lost = String::from_utf8_lossy(&whole).replacen("\"seed\":", "\"seed:", 1);
    for read in [parse_run(&lost), salvage_run(&lost)] {
        let error = read.expect_err("nothing can be read without it").to_string();
        assert!(
            error.starts_with("line 1, the header, is damaged: not JSON") && error.contains("no other line"),
            "{error}"
        );
    }
}

#[test]
fn a_check_that_is_gone_or_moved_is_damage_and_a_file_without_any_is_none() {
    let whole = String::from_utf8(checked()).expect("text");
    let lines: Vec<&str> = whole.lines().collect();
    let without = |line: &str| format!("{}}}", &line[..line.len() - 20]);
    let with = |number: usize, line: String| {
        let mut lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        lines[number - 1] = line;
        parse_run(lines.join("\n") + "\n").map(|run| run.notes).map_err(|error| error.to_string())
    };
    let error = with(5, without(lines[4])).expect_err("no check");
    assert!(error.starts_with("line 5 is damaged: it has no check, and others have"), "{error}");
    let error = with(1, without(lines[0])).expect_err("the first has none");
    assert!(error.starts_with("line 2 is damaged: it has a check, and the first line has none"), "{error}");
    let spaced = lines[4].replace(",\"crc32\"", ", \"crc32\"");
    let error = with(5, spaced).expect_err("written anew");
    assert!(error.starts_with("line 5 is damaged: its check is not its last field"), "{error}");
    assert!(!parse_run(QUICK).expect("without checks").is_checked);
}

#[test]
fn every_cut_of_a_checked_file_is_readable() {
    let whole = checked();
    let header = whole.iter().position(|&byte| byte == b'\n').expect("a line") + 1;
    for cut in (header..whole.len()).step_by(1_499) {
        let run = parse_run(&whole[..cut]).unwrap_or_else(|error| panic!("cut at {cut}: {error}"));
        assert!(run.ended.is_none() && run.notes.len() <= 1, "cut at {cut}: {:?}", run.notes);
    }
}

#[test]
fn a_repeated_sample_is_refused_by_name_and_salvage_leaves_it_out() {
    let lines: Vec<&str> = QUICK.lines().collect();
    let timed = |line: &&&str| line.contains("\"kind\":\"timed\"");
    let first = lines.iter().position(|line| timed(&line)).expect("a timed sample");
    let same = lines[first];
    let other_order = same.replacen("\"order\":", "\"order\":9000", 1);
    for again in [same.to_owned(), other_order] {
        let text =
            format!("{}\n{again}\n{}\n", lines[..=first + 3].join("\n"), lines[first + 4..].join("\n"));
        let error = parse_run(&text).expect_err("repeated").to_string();
        let words =
            format!("line {} is damaged: it repeats the sample of line {} (order ", first + 5, first + 1);
        assert!(error.starts_with(&words) && error.contains("row") && error.contains("round"), "{error}");
        let salvaged = salvage_run(&text).expect("the others");
        assert_eq!(salvaged.samples, parse_run(QUICK).expect("a run file").samples);
        assert!(salvaged.notes[0].contains("repeats the sample"), "{:?}", salvaged.notes);
    }
}

#[test]
fn salvage_reads_around_all_damage_and_counts_it() {
    let mut lines: Vec<String> = QUICK.lines().map(str::to_owned).collect();
    let whole = parse_run(QUICK).expect("a run file");
    for number in (100..150).step_by(2) {
        lines[number - 1] = "\u{0}junk".into();
    }
    lines[199] = "x".repeat(MAX_LINE + 1);
    let run = salvage_run(lines.join("\n") + "\n").expect("the others");
    assert_eq!(run.notes.len(), 1);
    assert!(run.notes[0].starts_with("left out 26 damaged lines: 100 (not JSON"), "{}", run.notes[0]);
    assert!(run.notes[0].ends_with(", and 6 more"), "{}", run.notes[0]);
    let records = |run: &Run| {
        run.samples.len() + run.rounds.len() + run.row_ends.len() + run.rows.len() + run.runtimes.len()
    };
    assert_eq!(records(&run) + 26, records(&whole));
    assert_eq!((summarize(&run).damaged_lines, summarize(&whole).damaged_lines), (26, 0));
}
