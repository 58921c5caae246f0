//! .NET, in C# and F#: two languages over one SDK and one runtime, each with its own endings of
//! files. A user's file becomes a project that refers to the SDK.

use std::path::Path;

use taskscale_model::missing::Missing;
use taskscale_sys::process::Command;

use super::Language;
use crate::probes::{
    embedded,
    recipe::{Recipe, Site, Source, Step, name_of},
    toolchain::{Toolchain, find_program, said_once},
};

pub static CSHARP: Language = Language {
    name: "csharp",
    extension: "cs",
    runtimes: &["csharp", "csharp+server-gc", RUNTIME_ASYNC],
    files: embedded::DOTNET_PROBE,
    find,
    recipe: |dotnet, source, site| recipe(dotnet, source, site, &CS),
};

pub static FSHARP: Language = Language {
    name: "fsharp",
    extension: "fsx",
    runtimes: &["fsharp", "fsharp+server-gc"],
    files: embedded::DOTNET_PROBE,
    find,
    recipe: |dotnet, source, site| recipe(dotnet, source, site, &FS),
};

/// C# of which the runtime itself suspends the methods: another assembly, in a process of its own.
const RUNTIME_ASYNC: &str = "csharp+runtime-async";

/// What differs between the two languages.
struct Dialect {
    name: &'static str,
    /// The ending of its projects.
    project: &'static str,
    /// How a project takes a user's file, `MAIN`. C# takes all that lie beside it.
    compile: &'static str,
    /// The name of a user's file in its project, where its own will not do.
    main: &'static str,
}

const CS: Dialect = Dialect { name: "csharp", project: "csproj", compile: "", main: "main.cs" };
const FS: Dialect = Dialect {
    name: "fsharp",
    project: "fsproj",
    compile: "    <Compile Include=\"MAIN\" />\n",
    main: "main.fsx",
};

/// The oldest that the probe is written for.
const OLDEST: u32 = 10;

/// Settings of every run. With code that comes compiled a process on one CPU rests for more than 3
/// s on a level that is twice its last. Without it, and with 10 ms (hexadecimal) of quiet, not 100,
/// before code is compiled anew, it comes to the same last level within 0.7 s of CPU time
/// (probes/dotnet/README.md, "Warm-up"). Nothing asks its diagnostics, whose pipes and sockets
/// would stay in `/tmp` when a process is killed, as the trees of probes are.
const SETTINGS: [(&str, &str); 4] = [
    (DIAGNOSTICS, "0"),
    ("DOTNET_ReadyToRun", "0"),
    ("DOTNET_TC_CallCountingDelayMs", "A"),
    ("DOTNET_TC_DelaySingleProcMultiplier", "1"),
];

/// The variable that switches on what debuggers and profilers connect to.
const DIAGNOSTICS: &str = "DOTNET_EnableDiagnostics";

/// Builds the F# probe with the package Ply (`fsharp.fsproj`).
const WITH_PLY: &str = "-p:Ply=true";

/// Builds a probe of ours with or without Kestrel (`Common.csproj`), which is in ASP.NET Core.
const WITH_KESTREL: &str = "-p:AspNetCore=true";
const WITHOUT_KESTREL: &str = "-p:AspNetCore=false";

/// The hint for a build that asks for packages.
const NETWORK: &str = "NuGet fetches packages at the first build: is there a network, or a NuGet.Config?";

fn find(asked: Option<&str>, source: &Source) -> Result<Toolchain, Missing> {
    let example = match source {
        Source::Runtime(runtime) => format!("--runtime {runtime}@/opt/dotnet"),
        Source::File(path) => format!("--probe {}@/opt/dotnet", path.display()),
    };
    let remedy = format!("install the .NET SDK {OLDEST} or newer (dot.net), or name its dotnet: {example}");
    let program = find_program(asked, &["dotnet"], &remedy)?;
    let path = std::path::absolute(&program).unwrap_or_else(|_| program.clone());
    let command = Command {
        env: settings_of_tools(),
        // A `global.json` in a folder above would choose another SDK.
        directory: Some("/".into()),
        ..Command::new(path.to_string_lossy(), ["--version"])
    };
    let said = said_once(&command)
        .map_err(|why| Missing::new(format!("{} --version: {why}", program.display()), remedy.as_str()))?;
    let version = said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned();
    match major(&version) {
        Some(number) if number >= OLDEST => Ok(Toolchain { program, version: format!(".NET SDK {version}") }),
        Some(_) => Err(Missing::new(
            format!(".NET SDK {version} ({}) is too old: the probe needs {OLDEST}", program.display()),
            remedy,
        )),
        None => Err(Missing::new(
            format!("{} --version says no version of an SDK: {version}", program.display()),
            remedy,
        )),
    }
}

/// Returns 10 for `10.0.401`, or with our words before it.
fn major(version: &str) -> Option<u32> {
    version.trim_start_matches(".NET SDK ").split('.').next()?.parse().ok()
}

/// Settings of `dotnet` where it builds: it sends nothing, prints no greeting, and needs no ICU.
fn settings_of_tools() -> Vec<(String, String)> {
    ["DOTNET_CLI_TELEMETRY_OPTOUT", "DOTNET_NOLOGO", "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT"]
        .map(|name| (name.to_owned(), "1".to_owned()))
        .into_iter()
        .chain([(DIAGNOSTICS.to_owned(), "0".to_owned())])
        .collect()
}

fn recipe(dotnet: &Toolchain, source: &Source, site: Site<'_>, dialect: &Dialect) -> Recipe {
    let (files, project, program) = match source {
        Source::Runtime(runtime) => {
            let name = if runtime == RUNTIME_ASYNC { "csharp-runtime-async" } else { dialect.name };
            (Vec::new(), format!("workloads/{name}/{name}.{}", dialect.project), format!("{name}.dll"))
        }
        Source::File(path) => {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            let project = format!("own/own.{}", dialect.project);
            let main = main_of(path, dialect);
            let files =
                vec![(project.clone(), project_of(&text, dialect, &main)), (format!("own/{main}"), text)];
            (files, project, "own.dll".to_owned())
        }
    };
    // What we build needs no package but one, without which it is built too. A user's may.
    let wants_packages = files.iter().any(|(_, text)| text.contains("<PackageReference"));
    let framework = format!("-p:TargetFramework=net{}.0", major(&dotnet.version).unwrap_or(OLDEST));
    let (project, config) =
        (site.src(&project), format!("-p:RestoreConfigFile={}", site.src("nuget.config")));
    let out = site.out.to_string_lossy();
    let build = |packages: bool, further: &[&str]| {
        let mut words = vec!["build", &*project, "-c", "Release", "-v", "q", "--nologo", "-o"];
        // Both servers would outlive the build, with the lock of this folder in their hands.
        words.extend([
            &*out,
            "-p:UseSharedCompilation=false",
            "-nodeReuse:false",
            "-noAutoResponse",
            &*framework,
        ]);
        words.extend(further);
        words.extend((!packages).then_some(&*config));
        let mut build = Command { directory: Some("/".into()), ..Command::new(dotnet.program(), words) };
        build.env = settings_of_tools();
        // All builds share these two. Neither what is unpacked nor the first greeting goes to the
        // home.
        build.env.push(("NUGET_PACKAGES".into(), site.src("../../nuget-packages")));
        if !packages {
            build.env.push(("DOTNET_CLI_HOME".into(), site.src("../../dotnet-home")));
        }
        build
    };
    let step = match source {
        // Where the package or Kestrel cannot be had, their variants say so.
        Source::Runtime(_) if dialect.name == FS.name => Step::must(build(true, &[WITH_PLY, WITH_KESTREL]))
            .or(build(false, &[WITH_KESTREL]))
            .or(build(true, &[WITH_PLY, WITHOUT_KESTREL]))
            .or(build(false, &[WITHOUT_KESTREL])),
        Source::Runtime(_) => Step::must(build(false, &[WITH_KESTREL])).or(build(false, &[WITHOUT_KESTREL])),
        Source::File(_) if wants_packages => Step::must(build(true, &[])).hint(NETWORK),
        Source::File(_) => Step::must(build(false, &[])),
    };
    let mut run = Command::new(dotnet.program(), [site.out(&program)]);
    run.env = SETTINGS.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    if let Source::Runtime(runtime) = source {
        run.args.push(runtime.clone());
        run.env.extend(runtime.ends_with("+server-gc").then(|| ("DOTNET_gcServer".into(), "1".into())));
        run.env.extend((runtime == RUNTIME_ASYNC).then(|| ("DOTNET_RuntimeAsync".into(), "1".into())));
    }
    Recipe { files, steps: vec![step], run }
}

/// Returns the project of a user's file. The packages are those that the file names as a program of
/// one file does: `#:package NAME@VERSION` in C#, `#r "nuget: NAME, VERSION"` in F#.
fn project_of(text: &str, dialect: &Dialect, main: &str) -> String {
    let packages: String = text
        .lines()
        .filter_map(package)
        .map(|(name, version)| {
            format!(
                "    <PackageReference Include=\"{}\" Version=\"{}\" />\n",
                escaped(name),
                escaped(version)
            )
        })
        .collect();
    format!(
        "<Project Sdk=\"Microsoft.NET.Sdk\">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <AssemblyName>own</AssemblyName>
    <AllowUnsafeBlocks>true</AllowUnsafeBlocks>
    <TreatWarningsAsErrors>false</TreatWarningsAsErrors>
    <DebugType>embedded</DebugType>
    <Features>$(Features);FileBasedProgram</Features>
  </PropertyGroup>
  <ItemGroup>
{}    <ProjectReference Include=\"../sdk/TaskscaleProbe.csproj\" />
{packages}  </ItemGroup>
</Project>
",
        dialect.compile.replace("MAIN", main)
    )
}

/// The name of a user's file in its project: its own, which traces then tell, unless MSBuild takes
/// a sign of it for something else.
fn main_of(path: &Path, dialect: &Dialect) -> String {
    let name = name_of(path);
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    if is_plain { name } else { dialect.main.to_owned() }
}

fn package(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let (name, version) = match line.strip_prefix("#:package ") {
        Some(rest) => rest.split_once('@')?,
        None => line.strip_prefix("#r ")?.trim().trim_matches('"').strip_prefix("nuget:")?.split_once(',')?,
    };
    Some((name.trim(), version.trim()))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn versions_are_those_of_the_sdk() {
        let all =
            [("10.0.401", Some(10)), (".NET SDK 11.0.100-rc.1", Some(11)), ("8.0.1", Some(8)), ("?", None)];
        for (text, number) in all {
            assert_eq!(major(text), number, "{text}");
        }
    }

    #[test]
    fn packages_are_those_that_the_file_names() {
        for (line, named) in [
            ("#:package Nito.AsyncEx@5.1.2", Some(("Nito.AsyncEx", "5.1.2"))),
            ("  #r \"nuget: IcedTasks, 0.11.9\"", Some(("IcedTasks", "0.11.9"))),
            ("#:property LangVersion=preview", None),
            ("#r \"mine.dll\"", None),
            ("var x = 1;", None),
        ] {
            assert_eq!(package(line), named, "{line}");
        }
        let project = project_of("#:package A\"@1\nrest", &CS, "main.cs");
        assert!(project.contains("Include=\"A&quot;\" Version=\"1\""), "{project}");
    }

    #[test]
    fn nothing_outlives_a_build_and_nothing_is_fetched() {
        let sdk = Toolchain { program: "/opt/dotnet".into(), version: ".NET SDK 10.0.401".into() };
        let site = Site { src: Path::new("/c/probes/x/src"), out: Path::new("/c/probes/x/out") };
        for (language, runtime) in [(&CSHARP, "csharp+server-gc"), (&FSHARP, "fsharp")] {
            let recipe = (language.recipe)(&sdk, &Source::Runtime(runtime.into()), site);
            let command = recipe.steps[0].attempts.last().expect("an attempt");
            for word in [
                "-p:UseSharedCompilation=false",
                "-nodeReuse:false",
                "-p:RestoreConfigFile=/c/probes/x/src/nuget.config",
                "-p:TargetFramework=net10.0",
            ] {
                assert!(command.args.iter().any(|arg| arg == word), "{word}: {command:?}");
            }
            let server = recipe.run.env.iter().any(|(name, _)| name == "DOTNET_gcServer");
            assert_eq!(server, runtime == "csharp+server-gc");
            // A package is asked for first, from the user's own sources.
            let attempts = &recipe.steps[0].attempts;
            let has = |command: &Command, word: &str| command.args.iter().any(|arg| arg.starts_with(word));
            let asks = |command: &Command| has(command, WITH_PLY) && !has(command, "-p:RestoreConfigFile");
            assert_eq!(asks(&attempts[0]), runtime == "fsharp");
            // A part that is not here costs no other part.
            let parts: Vec<_> = attempts.iter().map(|one| (asks(one), has(one, WITH_KESTREL))).collect();
            let all = [(true, true), (false, true), (true, false), (false, false)];
            let right: Vec<_> = all.into_iter().filter(|(ply, _)| runtime == "fsharp" || !ply).collect();
            assert_eq!(parts, right);
        }
        let recipe = (CSHARP.recipe)(&sdk, &Source::Runtime(RUNTIME_ASYNC.into()), site);
        let project = "/c/probes/x/src/workloads/csharp-runtime-async/csharp-runtime-async.csproj";
        assert!(recipe.steps[0].attempts[0].args.iter().any(|arg| arg == project), "{recipe:?}");
        assert_eq!(recipe.run.args[0], "/c/probes/x/out/csharp-runtime-async.dll");
        assert!(recipe.run.env.contains(&("DOTNET_RuntimeAsync".into(), "1".into())), "{recipe:?}");
    }
}
