//! What the experiments share: clocks, the kernel, loop profiles, rounds of interleaved arms, JSON
//! Lines. `../README.md` has the format; `../guide.hpp` is the same for C++.

use std::{
    collections::BTreeSet,
    hint::black_box,
    io::Write,
    sync::OnceLock,
    time::{Duration, Instant},
};

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

pub fn clock_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
pub fn wall() -> u64 {
    clock_ns(ClockId::Monotonic)
}
pub fn cpu() -> u64 {
    clock_ns(ClockId::ProcessCPUTime)
}
/// What all threads but the caller have used. The thread's clock is read first, so that the
/// difference is not below zero.
fn others() -> u64 {
    let own = clock_ns(ClockId::ThreadCPUTime);
    cpu() - own
}

pub fn splitmix(s: u64) -> u64 {
    let mut z = s.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
/// Work that no compiler can fold: so many dependent steps.
#[inline(never)]
pub fn spin(i: u64, steps: u64) -> u64 {
    let mut x = splitmix(i);
    for _ in 0..steps {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    x
}
/// How long a step of `spin` takes in ns: the shortest of five.
pub fn step_ns() -> f64 {
    static BEST: OnceLock<f64> = OnceLock::new();
    *BEST.get_or_init(|| {
        let times = (0..5).map(|i| {
            let from = cpu();
            black_box(spin(i, 200_000));
            (cpu() - from) as f64 / 200_000.0
        });
        times.fold(1e9, f64::min)
    })
}
pub fn spins(n: u64, steps: u64) -> u64 {
    sum((0..n).map(|i| spin(i, steps)))
}
pub fn sum(all: impl Iterator<Item = u64>) -> u64 {
    all.fold(0, u64::wrapping_add)
}

/// Loop profiles: what element i of n does. The sums are those of every language's program, for
/// 4,096 and 65,536 elements.
pub const PROFILES: [(&str, fn(u64, u64) -> u64, [u64; 2]); 5] = [
    ("uniform", |i, _| spin(i, 64), [14_386_694_264_494_772_570, 9_472_180_545_058_376_438]),
    ("ramp", |i, n| spin(i, 128 * i / n), [14_835_103_784_405_840_294, 17_197_121_626_017_414_055]),
    (
        "bimodal",
        |i, _| spin(i, if i % 64 == 63 { 64 * 33 } else { 32 }),
        [1_156_649_233_370_533_118, 2_834_354_498_727_450_142],
    ),
    ("primes", primes, [564, 6_542]),
    ("mandelbrot", mandelbrot, [197_192, 3_123_776]),
];
fn primes(i: u64, _: u64) -> u64 {
    let n = i as u32 + 1;
    let mut divisors = (2..).take_while(|d| d * d <= n);
    u64::from(n >= 2 && divisors.all(|d| n % d != 0))
}
fn mandelbrot(i: u64, n: u64) -> u64 {
    let side = (n as f64).sqrt() as u64;
    let (re, im) =
        (-2.0 + 3.0 * (i % side) as f64 / side as f64, -1.5 + 3.0 * (i / side) as f64 / side as f64);
    let (mut x, mut y, mut count) = (0.0, 0.0, 0);
    while count < 256 && x * x + y * y <= 4.0 {
        let next = x * x - y * y + re;
        y = 2.0 * x * y + im;
        x = next;
        count += 1;
    }
    count
}

/// A sample: start and stop may come several times; their times add up.
#[derive(Default)]
pub struct Sample {
    pub cpu_ns: u64,
    pub wall_ns: u64,
    from: (u64, u64),
    others: u64,
}
impl Sample {
    pub fn start(&mut self) {
        self.from = (wall(), cpu());
    }
    pub fn stop(&mut self) {
        let (c, w) = (cpu(), wall());
        self.cpu_ns += c - self.from.1;
        self.wall_ns += w - self.from.0;
        self.others = others();
    }
    /// Waits until idle workers have ceased to spin, a tenth of a second at most: what they use
    /// belongs to no arm. Returns it.
    pub fn settle(&self) -> u64 {
        let mut last = others();
        for _ in 0..100 {
            std::thread::sleep(Duration::from_millis(1));
            let now = others();
            if now - last < 5_000 {
                break;
            }
            last = now;
        }
        last.saturating_sub(self.others)
    }
}

/// What a claim bounds; the metric is per task unless it ends with "/sample".
pub fn bound(kind: &str, name: &str, metric: &str, of: Value, range: (Option<f64>, Option<f64>)) -> Value {
    let whole = metric.strip_suffix("/sample");
    let per = if whole.is_some() { "sample" } else { "task" };
    let mut bound = json!({"kind": kind, "name": name, "metric": whole.unwrap_or(metric), "per": per});
    for (key, value) in of.as_object().into_iter().flatten() {
        bound[key] = value.clone();
    }
    for (key, end) in [("above", range.0), ("below", range.1)] {
        if let Some(end) = end {
            bound[key] = end.into();
        }
    }
    bound
}
pub fn ratio(name: &str, metric: &str, one: &str, other: &str, range: (Option<f64>, Option<f64>)) -> Value {
    bound("ratio", name, metric, json!({"one": one, "other": other}), range)
}
/// `one` costs no more than `other`: a tie is in its favour.
pub fn no_more(one: &str, other: &str) -> Value {
    let mut bound =
        ratio(&format!("{one} takes no more than {other}"), "wall_ns", one, other, (None, Some(1.0)));
    bound["tie"] = "holds".into();
    bound
}
pub fn slope(name: &str, metric: &str, arms: &[String], above: f64) -> Value {
    bound("slope", name, metric, json!({"arms": arms}), (Some(above), None))
}
pub fn report(name: &str, metric: &str, arms: &[String]) -> Value {
    bound("report", name, metric, json!({"arms": arms}), (None, None))
}
pub fn crossover(
    name: &str,
    metric: &str,
    (ones, others): (&[String], &[String]),
    (scale, level): (f64, f64),
    range: (Option<f64>, Option<f64>),
) -> Value {
    bound(
        "crossover",
        name,
        metric,
        json!({"ones": ones, "others": others, "scale": scale, "level": level}),
        range,
    )
}

type Run = Box<dyn FnMut(&mut Sample) -> u64>;
pub struct Arm {
    pub name: String,
    pub tasks: u64,
    pub answer: u64,
    pub x: Option<f64>,
}

/// The words of the command line.
#[derive(Clone)]
pub struct Options {
    pub quick: bool,
    pub rounds: u64,
    pub seconds: f64,
    pub claim: Option<u32>,
}
const HELP: &str = "Usage: guide-rayon [--claim N] [--rounds N] [--seconds S] [--quick]\n\n  --claim N    one experiment: 9, 10, 12, 13, 14 to 16, 17 to 20, 28, 29, 35, 36\n  --rounds N   rounds at most (40); a round has a sample of each arm\n  --seconds S  begin no sample after so many seconds, the first round apart (5)\n  --quick      smaller samples, two rounds\n\nPrints JSON Lines: claims, then samples. Status: 0 done, 1 a wrong answer, 2 bad options.";
impl Options {
    pub fn read() -> Result<Option<Self>, String> {
        let words: Vec<String> = std::env::args().skip(1).collect();
        let quick = words.iter().any(|word| word == "--quick");
        let (rounds, seconds) = if quick { (2, 2.0) } else { (40, 5.0) };
        let mut options = Options { quick, rounds, seconds, claim: None };
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let mut number = |least: f64| {
                let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
                let number = value.parse().ok().filter(|number| (least..=1e9).contains(number));
                number.ok_or_else(|| format!("{word} wants a number from {least}, not {value:?}"))
            };
            match word.as_str() {
                "--quick" => {}
                "--help" | "-h" => {
                    println!("{HELP}");
                    return Ok(None);
                }
                "--rounds" => options.rounds = number(1.0)? as u64,
                "--seconds" => options.seconds = number(0.0)?,
                "--claim" => options.claim = Some(number(1.0)? as u32),
                _ => return Err(format!("unknown option {word}")),
            }
        }
        Ok(Some(options))
    }
}

/// An experiment: claims, and arms that are measured in interleaved rounds, every second one
/// backwards.
pub struct Program {
    pub options: Options,
    pub library: (&'static str, &'static str),
    claims: Vec<Value>,
    arms: Vec<(Arm, Run)>,
}
impl Program {
    pub fn new(options: &Options, library: (&'static str, &'static str)) -> Self {
        Program { options: options.clone(), library, claims: Vec::new(), arms: Vec::new() }
    }
    pub fn size(&self, full: u64, quick: u64) -> u64 {
        if self.options.quick { quick } else { full }
    }
    pub fn claim(&mut self, number: u32, text: &str, clock: &str, note: &str, bounds: Vec<Value>) {
        self.claims
            .push(json!({"claim": number, "text": text, "clock": clock, "note": note, "bounds": bounds}));
    }
    /// A claim that this machine, or this library, cannot test. Without a remedy it does not apply.
    pub fn untestable(&mut self, number: u32, text: &str, why: &str, remedy: &str) {
        self.claim(number, text, "cpu", "", Vec::new());
        self.claims.push(json!({"claim": number, "untestable": why, "remedy": remedy}));
    }
    pub fn arm(
        &mut self,
        name: impl Into<String>,
        tasks: u64,
        answer: u64,
        x: Option<f64>,
        run: impl FnMut(&mut Sample) -> u64 + 'static,
    ) {
        self.arms.push((Arm { name: name.into(), tasks, answer, x }, Box::new(run)));
    }
    /// Prints the claims, then a line for each sample.
    pub fn run(mut self) -> Result<(), String> {
        let arms: Vec<Value> = self
            .arms
            .iter()
            .map(|(arm, _)| match arm.x {
                Some(x) => json!({"name": arm.name, "tasks": arm.tasks, "answer": arm.answer, "x": x}),
                None => json!({"name": arm.name, "tasks": arm.tasks, "answer": arm.answer}),
            })
            .collect();
        let names: BTreeSet<&str> = self.arms.iter().map(|(arm, _)| arm.name.as_str()).collect();
        assert_eq!(names.len(), self.arms.len(), "two arms have one name");
        let number = self.claims[0]["claim"].clone();
        for mut claim in std::mem::take(&mut self.claims) {
            if claim.get("bounds").is_some() {
                let more = json!({"library": self.library.0, "version": self.library.1, "compiler": "rustc", "cores": cores(), "arms": arms});
                claim
                    .as_object_mut()
                    .into_iter()
                    .for_each(|object| object.extend(more.as_object().cloned().unwrap_or_default()));
            }
            say(&claim)?;
        }
        let began = Instant::now();
        for round in 0..self.options.rounds {
            for (arm, run) in &mut self.arms {
                if round > 0 && began.elapsed().as_secs_f64() >= self.options.seconds {
                    return Ok(());
                }
                for told in if round == 0 { &[false, true][..] } else { &[true] } {
                    let mut sample = Sample::default();
                    let answer = run(&mut sample);
                    let tail = sample.settle();
                    if answer != arm.answer {
                        return Err(format!("arm {} gave {answer}, not {}", arm.name, arm.answer));
                    }
                    if *told {
                        say(
                            &json!({"claim": number, "arm": arm.name, "round": round, "tasks": arm.tasks, "cpu_ns": sample.cpu_ns,
                            "wall_ns": sample.wall_ns, "answer": answer, "tail_cpu_ns": tail}),
                        )?;
                    }
                }
            }
            self.arms.reverse();
        }
        Ok(())
    }
}
fn say(line: &Value) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")
        .and_then(|()| out.flush())
        .map_err(|error| format!("standard output cannot be written: {error}"))
}
/// CPUs that this process may use.
pub fn cores() -> u64 {
    std::thread::available_parallelism().map_or(1, |count| count.get() as u64)
}
