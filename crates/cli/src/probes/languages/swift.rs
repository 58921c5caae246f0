//! Swift: the SDK is a module, so that a user's probe can import it.

use taskscale_model::missing::Missing;
use taskscale_sys::process::Command;

use super::Language;
use crate::probes::{
    embedded,
    recipe::{Recipe, Site, Source, Step, absolute},
    toolchain::{Toolchain, ask_untidy, find_program},
};

pub static SWIFT: Language = Language {
    name: "swift",
    extension: "swift",
    runtimes: &["swift"],
    files: embedded::SWIFT_PROBE,
    find,
    recipe,
};

/// Holds the version that the compiler states.
const VERSION_FILE: &str = "SwiftcVersion.swift";

/// URLSession's ways of the workload `bytes`: a library that lies beside the probe, which loads it
/// when it is asked for one.
const URL_SESSION: &str = "TaskscaleUrlSession";

fn find(asked: Option<&str>, _: &Source) -> Result<Toolchain, Missing> {
    let remedy =
        "install Swift 6.0 or newer (swift.org/install), or name one: --runtime swift@/opt/swift-6.0";
    let program = find_program(asked, &["swiftc"], remedy)?;
    let version = ask_untidy(&program, &["--version"])?;
    Ok(Toolchain { program, version })
}

fn recipe(swiftc: &Toolchain, source: &Source, site: Site<'_>) -> Recipe {
    let below = |folder: &str| -> Vec<String> {
        embedded::below(embedded::SWIFT_PROBE, folder, ".swift").map(|name| site.src(name)).collect()
    };
    // All builds share this cache. Without one named, the compiler would take one in the temporary
    // folder.
    let modules = site.src("../../swift-modules");
    let compile = |args: Vec<String>| {
        Command::new(
            swiftc.program(),
            ["-O", "-wmo", "-module-cache-path", &modules]
                .into_iter()
                .map(str::to_owned)
                .chain(args)
                .collect::<Vec<_>>(),
        )
    };
    let (library, module, probe) =
        (site.out("libTaskscaleProbe.a"), site.out("TaskscaleProbe.swiftmodule"), site.out("probe"));
    let mut sdk: Vec<String> = [
        "-parse-as-library",
        "-emit-library",
        "-static",
        "-module-name",
        "TaskscaleProbe",
        "-emit-module",
        "-emit-module-path",
        &module,
        "-o",
        &library,
    ]
    .map(str::to_owned)
    .into();
    // The version is compiled in, since Swift cannot be asked for it at run time.
    sdk.extend(["-D".into(), "SWIFTC_VERSION".into(), site.src(VERSION_FILE)]);
    sdk.extend(below("sdk/"));
    let (mut main, args) = match source {
        Source::Runtime(runtime) => {
            let mut files = below("workloads/");
            files.insert(0, site.src("main.swift"));
            (files, vec![runtime.clone()])
        }
        Source::File(path) => (vec![absolute(path)], Vec::new()),
    };
    main.extend([library, "-I".into(), site.out.to_string_lossy().into_owned(), "-o".into(), probe.clone()]);
    let mut steps = vec![Step::must(compile(sdk)), Step::must(compile(main))];
    if matches!(source, Source::Runtime(_)) {
        let (path, sums) = (site.out(URL_SESSION), site.src("workloads/bytes/BytesSum.swift"));
        let mut session: Vec<String> =
            ["-parse-as-library", "-emit-library", "-module-name", URL_SESSION, "-o", &path, &sums]
                .map(str::to_owned)
                .into();
        session.extend(below("urlsession/"));
        steps.push(Step::may(compile(session)));
    }
    Recipe {
        files: vec![(VERSION_FILE.into(), format!("let swiftcVersion = #\"{}\"#\n", swiftc.version))],
        steps,
        run: Command::new(probe, args),
    }
}
