//! Java: uses the newest JDK that can be found.

use std::path::{Path, PathBuf};

use taskscale_model::missing::Missing;
use taskscale_sys::{own, process::Command};

use super::Language;
use crate::folders;
use crate::probes::{
    embedded,
    recipe::{Recipe, Site, Source, Step, absolute},
    toolchain::{Toolchain, ask_version, find_program, on_path, tell_found},
};

pub static JAVA: Language = Language {
    name: "java",
    extension: "java",
    runtimes: &["java", LARGE_YOUNG],
    files: embedded::JAVA_PROBE,
    find,
    recipe,
};

/// The first version with all that `src/main` needs: records, and sealed interfaces.
const OLDEST: u32 = 17;
/// The first version with virtual threads.
const VIRTUAL: u32 = 21;
/// The first version with `java.lang.foreign`, by which the CPU clock is read finely.
const FOREIGN: u32 = 22;
/// The first version with `ScopedValue`.
const SCOPED: u32 = 25;
/// The version whose `StructuredTaskScope`, a preview, the probe is written for.
const STRUCTURED: u32 = 25;

/// The virtual machine keeps its counters in memory of its own. Else they are a file in `/tmp`,
/// which stays there when the process is killed, as the trees of probes are.
const NO_SHARED_FILE: &str = "-XX:+PerfDisableSharedMem";

/// The flags of every run, a user's probe too. `probes/java/README.md` gives the reason for each.
/// Standard output is for the protocol alone, the CPU clock is a native function, and the function
/// of a task is not inlined.
const FLAGS: &[&str] = &[
    NO_SHARED_FILE,
    "--enable-native-access=ALL-UNNAMED",
    "-XX:+DisplayVMOutputToStderr",
    "-Xlog:disable",
    "-Xlog:all=warning:stderr",
    "-XX:CompileCommand=quiet",
    "-XX:CompileCommand=dontinline,taskscale.workloads.Kernel::product",
    "-XX:CompileCommand=dontinline,taskscale.workloads.Kernel::spin",
];

/// Java with a young generation that does not fill. No call turns a collector off, and Epsilon,
/// which has none, pays for fresh pages in every sample and ends within a warm-up
/// (probes/java/README.md).
const LARGE_YOUNG: &str = "java+large-young";

/// Its flags beside [`FLAGS`]: the collector is the default one, and only what is used becomes
/// memory. Class metadata has room for all that the probe loads, so that it starts no collection.
const LARGE_FLAGS: [&str; 4] = ["-Xms5g", "-Xmx5g", "-Xmn4g", "-XX:MetaspaceSize=256m"];

fn find(asked: Option<&str>, _: &Source) -> Result<Toolchain, Missing> {
    let remedy = "install a JDK of 17 or newer, or name one: --runtime java@/usr/lib/jvm/temurin-25";
    let (candidates, searched) = match asked {
        Some(_) => {
            (vec![find_program(asked, &["javac"], remedy).map(|program| beside_javac(&program))?], Vec::new())
        }
        None => installed(),
    };
    let mut jdks: Vec<Toolchain> = candidates
        .into_iter()
        .filter_map(|program| {
            let version = ask_version(&program, &[&format!("-J{NO_SHARED_FILE}"), "-version"]).ok()?;
            Some(Toolchain { program, version })
        })
        .collect();
    // The first found of two equal versions stays: the one of JAVA_HOME or the PATH.
    jdks.sort_by_key(|jdk| std::cmp::Reverse(feature(&jdk.version)));
    match jdks.into_iter().next() {
        None => Err(Missing::new("no JDK found (JAVA_HOME, the PATH, /usr/lib/jvm)", remedy)),
        Some(jdk) if feature(&jdk.version) < OLDEST => Err(Missing::new(
            format!(
                "{} ({}) is too old: {OLDEST} is the oldest that the probe supports",
                jdk.version,
                jdk.program.display()
            ),
            remedy,
        )),
        Some(jdk) => {
            if searched.contains(&jdk.program) {
                tell_found("java", &jdk.program);
            }
            Ok(jdk)
        }
    }
}

/// Returns the `javac` of every JDK in the usual places, and those of them that neither JAVA_HOME
/// nor the PATH names.
fn installed() -> (Vec<PathBuf>, Vec<PathBuf>) {
    let home = folders::absolute("JAVA_HOME").map(|home| home.join("bin/javac"));
    let sdkman = folders::absolute("HOME").map(|home| home.join(".sdkman/candidates/java"));
    let places = [
        Some(PathBuf::from("/usr/lib/jvm")),
        Some(PathBuf::from("/Library/Java/JavaVirtualMachines")),
        sdkman,
    ];
    let below = |folder: PathBuf| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut found: Vec<PathBuf> = entries
            .flat_map(|entry| ["bin/javac", "Contents/Home/bin/javac"].map(|part| entry.path().join(part)))
            .collect();
        found.sort();
        found
    };
    // A JDK that nobody named is taken only from where nobody else can have put it.
    let searched = places.into_iter().flatten().flat_map(below).filter(|path| own::is_safe_program(path));
    let named = home.into_iter().chain(on_path("javac"));
    // Distributions link several names to one JDK.
    let itself = |program: PathBuf| program.canonicalize().unwrap_or(program);
    let mut seen: Vec<PathBuf> = Vec::new();
    for program in named.filter(|program| program.is_file()).map(itself) {
        if !seen.contains(&program) {
            seen.push(program);
        }
    }
    let mut beside: Vec<PathBuf> = Vec::new();
    for program in searched.filter(|program| program.is_file()).map(itself) {
        if !seen.contains(&program) && !beside.contains(&program) {
            beside.push(program);
        }
    }
    seen.extend(beside.iter().cloned());
    (seen, beside)
}

/// Returns the `javac` beside a `java` that was asked for.
fn beside_javac(program: &Path) -> PathBuf {
    let program = program.canonicalize().unwrap_or_else(|_| program.to_owned());
    if program.file_name().is_some_and(|name| name == "java") {
        program.with_file_name("javac")
    } else {
        program
    }
}

/// Returns 25 for `javac 25.0.1`, 8 for `javac 1.8.0_392`, 0 for anything else.
pub fn feature(version: &str) -> u32 {
    let numbers = version.trim_start_matches("javac ").split(['.', '-', '+', '_']);
    let mut numbers = numbers.map(|number| number.parse().unwrap_or(0));
    match (numbers.next(), numbers.next()) {
        (Some(1), Some(second)) => second,
        (Some(first), _) => first,
        (None, _) => 0,
    }
}

fn recipe(jdk: &Toolchain, source: &Source, site: Site<'_>) -> Recipe {
    let version = feature(&jdk.version);
    let classes = site.out("classes");
    let below = |folder: &str| -> Vec<String> {
        embedded::below(embedded::JAVA_PROBE, folder, ".java").map(str::to_owned).collect()
    };
    let quiet = format!("-J{NO_SHARED_FILE}");
    let javac = |args: &[&str], files: Vec<String>| {
        let fixed = [&*quiet, "-encoding", "UTF-8", "-cp", &*classes, "-d", &*classes];
        Command::new(
            jdk.program(),
            fixed.iter().chain(args).map(|word| (*word).to_owned()).chain(files).collect::<Vec<_>>(),
        )
    };
    let release = version.to_string();
    let mut steps = vec![Step::must(javac(&["--release", "17"], below("src/main/")))];
    if version >= VIRTUAL {
        steps.push(Step::must(javac(&["--release", "21"], below("src/jdk21/"))));
    }
    if version >= FOREIGN {
        steps.push(Step::may(javac(&["--release", "22"], below("src/jdk22/"))));
    }
    if version >= SCOPED {
        steps.push(Step::may(javac(&["--release", "25"], below("src/jdk25/"))));
    }
    if version >= STRUCTURED {
        steps.push(Step::may(javac(&["--release", &release, "--enable-preview"], below("src/preview25/"))));
    }
    let mut words: Vec<String> = FLAGS.iter().map(|flag| (*flag).to_owned()).collect();
    words.extend((version >= STRUCTURED).then(|| "--enable-preview".to_owned()));
    let class = match source {
        Source::Runtime(runtime) => {
            let large = if runtime == LARGE_YOUNG { &LARGE_FLAGS[..] } else { &[] };
            words.extend(large.iter().map(|flag| (*flag).to_owned()));
            words.extend(["-cp".into(), classes]);
            vec!["taskscale.Main".to_owned(), runtime.clone()]
        }
        Source::File(path) => {
            let own = site.out("own");
            let mut args = vec![&*quiet, "-encoding", "UTF-8", "-cp", &*classes, "-d", &*own];
            args.extend(
                (version >= STRUCTURED)
                    .then_some(["--release", &*release, "--enable-preview"])
                    .into_iter()
                    .flatten(),
            );
            let args = args.into_iter().map(str::to_owned).chain([absolute(path)]);
            steps.push(Step::must(Command::new(jdk.program(), args.collect::<Vec<_>>())));
            words.extend(["-cp".into(), format!("{own}:{classes}")]);
            vec![path.file_stem().unwrap_or_default().to_string_lossy().into_owned()]
        }
    };
    let run = Command::new(jdk.beside("java"), words.into_iter().chain(class).collect::<Vec<_>>());
    Recipe { files: Vec::new(), steps, run }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_young_generation_is_large_where_the_runtime_says_so() {
        let jdk = Toolchain { program: "/opt/jdk/bin/javac".into(), version: "javac 25.0.1".into() };
        let site = Site { src: Path::new("/c/probes/x/src"), out: Path::new("/c/probes/x/out") };
        for (runtime, large) in [("java", false), (LARGE_YOUNG, true)] {
            let run = recipe(&jdk, &Source::Runtime(runtime.into()), site).run;
            assert_eq!(
                LARGE_FLAGS.iter().all(|flag| run.args.iter().any(|arg| arg == flag)),
                large,
                "{run:?}"
            );
            assert_eq!(run.args.iter().any(|arg| arg.starts_with("-Xm")), large, "{run:?}");
            assert_eq!(run.args.last().map(String::as_str), Some(runtime));
        }
    }

    #[test]
    fn classes_are_compiled_for_what_the_jdk_has() {
        let site = Site { src: Path::new("/c/probes/x/src"), out: Path::new("/c/probes/x/out") };
        let all = ["src/main/", "src/jdk21/", "src/jdk22/", "src/jdk25/", "src/preview25/"];
        for (version, releases, preview) in [
            ("17.0.15", &["17"][..], false),
            ("20", &["17"], false),
            ("21.0.2", &["17", "21"], false),
            ("22", &["17", "21", "22"], false),
            ("24", &["17", "21", "22"], false),
            ("25.0.1", &["17", "21", "22", "25", "25"], true),
            ("26", &["17", "21", "22", "25", "26"], true),
        ] {
            let jdk = Toolchain { program: "/opt/jdk/bin/javac".into(), version: format!("javac {version}") };
            let recipe = recipe(&jdk, &Source::Runtime("java".into()), site);
            let after = |args: &[String], word: &str| {
                let at = args.iter().position(|arg| arg == word);
                at.map(|at| args[at + 1].clone())
            };
            let compiled: Vec<_> =
                recipe.steps.iter().filter_map(|step| after(&step.attempts[0].args, "--release")).collect();
            assert_eq!(compiled, releases, "{version}");
            for (step, folder) in recipe.steps.iter().zip(all) {
                let sources: Vec<_> =
                    step.attempts[0].args.iter().filter(|arg| arg.ends_with(".java")).collect();
                assert!(!sources.is_empty(), "{version}: nothing of {folder}");
                assert!(sources.iter().all(|file| file.starts_with(folder)), "{version}: {sources:?}");
            }
            assert_eq!(recipe.run.args.iter().any(|arg| arg == "--enable-preview"), preview, "{version}");
        }
    }

    #[test]
    fn versions_are_read_old_and_new() {
        for (text, number) in [
            ("javac 25.0.1", 25),
            ("javac 21-ea", 21),
            ("javac 17.0.9", 17),
            ("javac 1.8.0_392", 8),
            ("?", 0),
        ] {
            assert_eq!(feature(text), number, "{text}");
        }
    }
}
