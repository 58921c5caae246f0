//! Words and numbers that every form of a digest shares.

use taskscale_model::{
    digest::{Quantiles, Queue, QueueShares},
    figure::time,
    missing::Reading,
    plain::clean,
};

/// Makes a text from a trace plain. One longer than `limit` characters is cut with `~`.
pub(crate) fn plain(text: &str, limit: usize) -> String {
    let text = clean(text);
    if text.chars().count() <= limit {
        return text;
    }
    text.chars().take(limit.saturating_sub(1)).chain(['~']).collect()
}

/// Makes a name safe to show, as [`plain`] does. One longer than `limit` characters is cut in the
/// middle: names that begin alike differ at their ends.
pub(crate) fn name(text: &str, limit: usize) -> String {
    let whole: Vec<char> = plain(text, 1_000).chars().collect();
    if whole.len() <= limit {
        return whole.into_iter().collect();
    }
    let (head, tail) = (limit / 3, limit - limit / 3 - 1);
    whole[..head].iter().chain(&['~']).chain(&whole[whole.len() - tail..]).collect()
}

/// Writes a share in per cent: `12.3 %`. A share that is not zero never reads as zero.
pub(crate) fn percent(share: f64) -> String {
    match share * 100.0 {
        value if value > 0.0 && value < 0.1 => "<0.1 %".to_owned(),
        value => format!("{value:.1} %"),
    }
}

/// Writes a number with its word: `1 task`, `2 tasks`.
pub(crate) fn count(n: u64, word: &str) -> String {
    if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") }
}

/// Puts `tie` between each figure and its unit, in place of the blank at which a line may break.
pub(crate) fn tied(text: &str, tie: &str) -> String {
    let mut tied = text.replace(" %", &format!("{tie}%"));
    for unit in ["ns", "us", "ms", "s"] {
        for end in [",", ";", ")", " "] {
            tied = tied.replace(&format!(" {unit}{end}"), &format!("{tie}{unit}{end}"));
        }
        if let Some(figure) = tied.strip_suffix(&format!(" {unit}")) {
            tied = format!("{figure}{tie}{unit}");
        }
    }
    tied
}

/// The value in words, or why there is none.
pub(crate) fn reading<T>(reading: &Reading<T>, show: impl Fn(&T) -> String) -> String {
    match reading {
        Reading::Value(value) => show(value),
        Reading::Missing(missing) => format!("not known: {missing}"),
    }
}

/// The quantiles in words: `p50 ~1.0 us, ...`. All but the largest are those of a histogram whose
/// classes are 12.5 % wide.
pub(crate) fn quantiles(quantiles: &Quantiles) -> String {
    let Quantiles { p50, p90, p99, max, .. } = *quantiles;
    let [p50, p90, p99, max] = [p50, p90, p99, max].map(|ns| time(ns as f64));
    format!("p50 ~{p50}, p90 ~{p90}, p99 ~{p99}, max {max}")
}

/// How long tasks waited, and of how many that is known unless it is of all.
pub(crate) fn queue_delay(queue: &Queue) -> String {
    let of =
        if queue.known < 1.0 { format!(" ({} of the tasks)", percent(queue.known)) } else { String::new() };
    format!("{}{of}", quantiles(&queue.delay))
}

/// What idle workers and waiting tasks had of each other.
pub(crate) fn queue_shares(shares: &QueueShares) -> String {
    format!(
        "idle with an empty queue {}, idle while a task waited {}; all workers busy and tasks waiting {} of the time",
        percent(shares.starved),
        percent(shares.dispatch),
        percent(shares.saturated)
    )
}

/// Draws steps as one line of blocks. The highest block is `most`. A step that is not zero is never
/// blank.
pub(crate) fn sparkline(steps: &[f64], most: f64) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    steps
        .iter()
        .map(|step| {
            if *step <= 0.0 || most <= 0.0 {
                return ' ';
            }
            let level = (step / most * 8.0).ceil() as usize;
            BLOCKS[level.clamp(1, 8) - 1]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_from_a_trace_cannot_move_the_cursor() {
        assert_eq!(plain("a\x1b[31mb\nc", 40), "a?[31mb c");
        assert_eq!(plain("abc\u{202e}", 40), "abc?");
        assert_eq!(plain("ääää", 3), "ää~");
        assert_eq!(plain("ab", 2), "ab");
        assert_eq!(plain(&format!("a{}b", "\u{301}".repeat(3_000)), 9), "a\u{301}\u{301}b");
    }

    #[test]
    fn a_sparkline_has_no_false_blanks() {
        assert_eq!(sparkline(&[0.0, 0.001, 4.0, 9.0], 8.0), " ▁▄█");
    }
}
