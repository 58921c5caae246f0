//! The claims by other libraries: whose table is shown, and what stands beside Taskflow's.

use std::fmt::Write;

use taskscale_model::guide::{Judged, OfLibrary, Verdict, Verdicts};

use super::{NUMBER, TEXT, WORD, inked, key, map, reason, word};
use crate::{
    markdown::escape,
    overview::COLUMNS,
    style::{Ink, clean, ink},
    wrap::hanging,
};

/// Each library's title, the letter above its marks, and how a reader builds its program.
const TITLES: [(&str, &str, char, &str); 5] = [
    (
        "onetbb",
        "oneTBB",
        'T',
        "g++ -std=c++20 -O2 -pthread probes/guide/onetbb.cpp -o X -ltbb && ./X --claim",
    ),
    (
        "openmp",
        "OpenMP",
        'M',
        "g++ -std=c++20 -O2 -pthread -fopenmp probes/guide/openmp.cpp -o X && ./X --claim",
    ),
    ("rayon", "rayon", 'R', "cargo run --release --manifest-path probes/guide/rayon/Cargo.toml -- --claim"),
    ("forkjoin", "ForkJoin", 'J', "java probes/guide/ForkJoin.java --claim"),
    ("tpl", "TPL", 'N', "dotnet run probes/guide/tpl.cs -- --claim"),
];

fn title(name: &str) -> (String, char) {
    let known = TITLES.iter().find(|(known, ..)| *known == name);
    known.map_or_else(|| (clean(name), 'x'), |(_, title, letter, _)| ((*title).to_owned(), *letter))
}

/// A library with its version.
pub(super) fn titled(other: &OfLibrary) -> String {
    let (title, _) = title(&other.name);
    other.version.as_ref().map_or(title.clone(), |version| format!("{title} {}", clean(version)))
}

/// The claims that are shown.
pub(super) struct Table<'a> {
    /// Absent for Taskflow.
    pub library: Option<&'a OfLibrary>,
    pub claims: Vec<&'a Judged>,
    /// Whether Taskflow has no verdicts, and the claims are those of several others.
    pub is_borrowed: bool,
}

/// The table of a library; without a name, Taskflow's, or that of the only other one.
pub(super) fn table<'a>(verdicts: &'a Verdicts, library: Option<&str>) -> Table<'a> {
    let of = |other: &'a OfLibrary| Table {
        library: Some(other),
        claims: other.claims.iter().collect(),
        is_borrowed: false,
    };
    if let Some(other) = verdicts.others.iter().find(|other| library == Some(other.name.as_str())) {
        return of(other);
    }
    if let ([other], [], None) = (&*verdicts.others, &*verdicts.claims, &verdicts.no_taskflow) {
        return of(other);
    }
    let mut claims: Vec<&Judged> = verdicts.claims.iter().collect();
    let is_borrowed = claims.is_empty();
    if is_borrowed {
        claims = verdicts.others.iter().flat_map(|other| &other.claims).collect();
        claims.sort_by_key(|judged| judged.claim);
        claims.dedup_by_key(|judged| judged.claim);
    }
    Table { library: None, claims, is_borrowed }
}

fn mark(verdict: Verdict) -> char {
    match verdict {
        Verdict::Confirmed => '+',
        Verdict::Refuted => '-',
        Verdict::Partly => '~',
        Verdict::Answered => '=',
        Verdict::CannotTell => '?',
        Verdict::NotTestable | Verdict::Inapplicable => '.',
        Verdict::Failed => '!',
        Verdict::NotMeasured => ' ',
    }
}
const MARKS: &str = "+ confirmed, - refuted, ~ partly, ? cannot tell, . not testable, ! failed";

fn of_claim(other: &OfLibrary, claim: u32) -> Option<&Judged> {
    other.claims.iter().find(|judged| judged.claim == claim)
}

/// The letters above the marks; an empty line without marks.
pub(super) fn heading(others: &[OfLibrary]) -> String {
    let letters: String = others.iter().map(|other| format!("{} ", title(&other.name).1)).collect();
    let before = NUMBER + 1 + WORD + 1 + TEXT + 1 - 2 * others.len();
    format!("{:before$}{letters}", "").trim_end().to_owned()
}

/// A mark for each library; a blank where a claim has no experiment by it.
pub(super) fn marks(claim: u32, others: &[OfLibrary]) -> String {
    let mark = |other| match of_claim(other, claim) {
        Some(judged) => format!("{} ", inked(judged.verdict, &mark(judged.verdict).to_string())),
        None => "  ".to_owned(),
    };
    others.iter().map(mark).collect()
}

/// What letters and marks mean, and which libraries are not here.
pub(super) fn legend(verdicts: &Verdicts, others: &[OfLibrary]) -> String {
    let mut text = String::new();
    if !others.is_empty() {
        let letters: Vec<String> =
            others.iter().map(|other| format!("{} {}", title(&other.name).1, titled(other))).collect();
        text.push('\n');
        text.push_str(&hanging(&letters.join(", "), 0, COLUMNS));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{MARKS}");
    }
    text + &absent(verdicts, COLUMNS)
}

fn absences(verdicts: &Verdicts) -> Vec<String> {
    let taskflow = verdicts.no_taskflow.iter().map(|why| format!("Taskflow is not here: {}", reason(why)));
    let others = verdicts.others.iter().filter_map(|other| {
        let why = other.toolchain.why()?;
        Some(format!("{} is not here: {}", title(&other.name).0, reason(why)))
    });
    taskflow.chain(others).collect()
}

/// A line for each library that was asked for and is not here.
pub(super) fn absent(verdicts: &Verdicts, width: usize) -> String {
    absences(verdicts).iter().map(|line| hanging(line, 2, width)).collect()
}

pub(super) fn absent_markdown(verdicts: &Verdicts) -> String {
    absences(verdicts).iter().map(|line| format!("\n{}\n", escape(line))).collect()
}

/// What each other library does with a claim, a line each, and their maps.
pub(super) fn beside(verdicts: &Verdicts, claim: u32, width: usize) -> String {
    let mut text = String::new();
    for other in &verdicts.others {
        let Some(judged) = of_claim(other, claim) else { continue };
        if text.is_empty() {
            let _ = writeln!(text, "{}", ink(Ink::Dim, "by other libraries (--library NAME has all of it)"));
        }
        let verdict = inked(judged.verdict, &format!("{:WORD$}", word(judged.verdict)));
        let line = hanging(&deciding(judged), 2 + 16 + 1 + WORD + 1, width);
        let _ = write!(text, "  {:16} {verdict} {line}", begin(&titled(other)));
    }
    for other in &verdicts.others {
        if let Some(found) = of_claim(other, claim).and_then(|judged| judged.map.as_ref()) {
            text.push_str(&map::text(found, &format!(", {}", titled(other))));
        }
    }
    text
}

fn begin(text: &str) -> String {
    super::begin(text, 16)
}

/// The figure that decides, with what it is of.
fn deciding(judged: &Judged) -> String {
    let figure = key(judged);
    let name = super::key_bound(judged).map(|bound| clean(&bound.name));
    match name {
        Some(name) => format!("{figure} ({name})"),
        None => figure,
    }
}

/// Verdict and figure of each other library, for a row of a table.
pub(super) fn cells(others: &[OfLibrary], claim: u32) -> Vec<String> {
    let cell = |other| match of_claim(other, claim) {
        Some(judged) => format!("{}: {}", word(judged.verdict), deciding(judged)),
        None => String::new(),
    };
    others.iter().map(cell).collect()
}

/// The map of a claim by the library of the table, and by those beside it.
pub(super) fn maps(verdicts: &Verdicts, table: &Table<'_>, judged: &Judged) -> String {
    let whose = table.library.map_or("Taskflow".to_owned(), titled);
    let own = judged.map.as_ref().filter(|_| !table.is_borrowed);
    let mut text = own.map(|own| map::markdown(own, &format!(", {whose}"))).unwrap_or_default();
    for other in verdicts.others.iter().filter(|_| table.library.is_none()) {
        if let Some(found) = of_claim(other, judged.claim).and_then(|judged| judged.map.as_ref()) {
            text.push_str(&map::markdown(found, &format!(", {}", titled(other))));
        }
    }
    text
}

/// How a reader runs a program without the tool, with the compiler or the `java` that it took.
pub(super) fn by_hand(judged: &Judged, library: Option<&OfLibrary>) -> Vec<String> {
    match of_library(&judged.program, library) {
        Some(command) => command.split(" && ").map(str::to_owned).collect(),
        None => builds(judged),
    }
}

/// What runs an experiment of another library; `None` for Taskflow's programs.
fn of_library(program: &str, library: Option<&OfLibrary>) -> Option<String> {
    let (name, claim) = program.split_once('/')?;
    let (.., command) = TITLES.iter().find(|(known, ..)| *known == name)?;
    let taken = library.and_then(|library| library.program.as_deref()).map(quoted);
    let command = match (taken, command.split_once(' ')) {
        (Some(taken), Some((_, rest))) => format!("{taken} {rest}"),
        _ => (*command).to_owned(),
    };
    Some(format!("{command} {claim}"))
}

/// What compiles and runs a program, and before it those of its arms that are builds of their own.
fn builds(judged: &Judged) -> Vec<String> {
    let compiled = |flags: &str, into: &str| {
        format!("g++ -std=c++20 -O2 -pthread {flags}probes/guide/{}.cpp -o {into}", judged.program)
    };
    let into = |name: &str| format!("X-{}", name.replace('/', "-"));
    let own = judged.arms.iter().filter_map(|arm| Some((&arm.name, arm.flags.as_ref()?)));
    let own: Vec<(&String, &String)> = own.collect();
    let mut lines = vec![compiled("", "X")];
    lines.extend(own.iter().map(|(name, flags)| compiled(&format!("{flags} "), &into(name))));
    let given = own.iter().map(|(name, _)| format!(" --build {name}=./{}", into(name)));
    lines.push(format!("./X{}", given.collect::<String>()));
    lines
}

/// A path as a shell reads it. One that needs no quotes has none: they would hide `~`.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+~@".contains(c);
    match path.chars().all(plain) {
        true => path.to_owned(),
        false => shlex::try_quote(path).map_or_else(|_| path.to_owned(), std::borrow::Cow::into_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A claim of a program, and its arms with their flags.
    fn judged(program: &str, arms: &[(&str, &str)]) -> Judged {
        let arm = |(name, flags): &(&str, &str)| {
            serde_json::json!({"name": name, "tasks": 1, "rounds": 1, "cpu_ns": null, "wall_ns": null,
                "why": null, "flags": flags})
        };
        let arms: Vec<_> = arms.iter().map(arm).collect();
        let judged = serde_json::json!({"claim": 34, "text": "", "clock": "cpu", "note": "", "question": false,
            "program": program, "verdict": "confirmed", "why": null, "bounds": [], "arms": arms, "map": null});
        serde_json::from_value(judged).expect("a claim")
    }

    #[test]
    fn every_program_has_a_command_by_hand() {
        let by_hand = |program| by_hand(&judged(program, &[]), None);
        let compiled = "g++ -std=c++20 -O2 -pthread probes/guide/28_barriers.cpp -o X";
        assert_eq!(by_hand("28_barriers"), [compiled, "./X"]);
        assert_eq!(by_hand("onetbb/14")[1], "./X --claim 14");
        assert_eq!(by_hand("tpl/9"), ["dotnet run probes/guide/tpl.cs -- --claim 9"]);
    }

    #[test]
    fn arms_that_are_programs_of_their_own_are_built_by_hand_too() {
        let by_hand = by_hand(&judged("34_macros", &[("task_pool", "-DTF_ENABLE_TASK_POOL")]), None);
        assert_eq!(
            by_hand,
            [
                "g++ -std=c++20 -O2 -pthread probes/guide/34_macros.cpp -o X",
                "g++ -std=c++20 -O2 -pthread -DTF_ENABLE_TASK_POOL probes/guide/34_macros.cpp -o X-task_pool",
                "./X --build task_pool=./X-task_pool",
            ]
        );
    }

    #[test]
    fn by_hand_names_the_program_that_the_tool_took() {
        let mut library = OfLibrary {
            name: "forkjoin".into(),
            version: None,
            toolchain: taskscale_model::missing::Reading::Value("javac 25".into()),
            program: Some("/opt/jdk-25/bin/java".into()),
            claims: Vec::new(),
        };
        let judged = judged("forkjoin/9", &[]);
        assert_eq!(
            by_hand(&judged, Some(&library)),
            ["/opt/jdk-25/bin/java probes/guide/ForkJoin.java --claim 9"]
        );
        library.program = Some("/opt/my jdk/java".into());
        assert!(by_hand(&judged, Some(&library))[0].starts_with("'/opt/my jdk/java' probes"));
    }
}
