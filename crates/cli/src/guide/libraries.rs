//! The libraries beside Taskflow: where the toolchain of each comes from, and how its program is
//! made. One program holds all experiments of a library.

use taskscale_model::missing::Missing;
use taskscale_sys::process::Command;

use super::build::flags;
use crate::probes::{
    embedded,
    languages::{self, Language},
    recipe::{Recipe, Site, Source, Step},
    toolchain::Toolchain,
};

/// A library and its program.
#[derive(Debug)]
pub struct Library {
    /// The name that is typed.
    pub name: &'static str,
    /// The file of its program, whose head names the claims.
    pub file: &'static str,
    /// The language whose toolchain it is built with, and the name by which that is asked for.
    language: &'static str,
    runtime: &'static str,
    /// What to do where the toolchain is not here.
    remedy: &'static str,
    recipe: fn(&Toolchain, Site<'_>) -> Recipe,
}

/// The first JDK that calls functions of C without a flag, by which the program reads the clock.
const JDK: u32 = 22;

pub static ALL: [Library; 5] = [
    Library {
        name: "onetbb",
        file: "onetbb.cpp",
        language: "cpp",
        runtime: "onetbb",
        remedy: "install g++ and oneTBB (Debian: apt install g++ libtbb-dev)",
        recipe: |compiler, site| cpp(compiler, site, "onetbb", "-ltbb"),
    },
    Library {
        name: "openmp",
        file: "openmp.cpp",
        language: "cpp",
        runtime: "openmp",
        remedy: "install g++ (Debian: apt install g++; clang++ needs libomp-dev)",
        recipe: |compiler, site| cpp(compiler, site, "openmp", "-fopenmp"),
    },
    Library {
        name: "rayon",
        file: "rayon/rayon.rs",
        language: "rust",
        runtime: "tokio+futures-0.3.17",
        remedy: "install Rust 1.89 or newer (rustup.rs)",
        recipe: rayon,
    },
    Library {
        name: "forkjoin",
        file: "ForkJoin.java",
        language: "java",
        runtime: "java",
        remedy: "install a JDK of 22 or newer, for example that of adoptium.net",
        recipe: forkjoin,
    },
    Library {
        name: "tpl",
        file: "tpl.cs",
        language: "csharp",
        runtime: "csharp",
        remedy: "install the .NET SDK 10 or newer (dot.net)",
        recipe: tpl,
    },
];

/// Names by which a library is meant: its language or its platform.
pub const ALIASES: [(&str, &str); 5] =
    [("java", "forkjoin"), ("dotnet", "tpl"), (".net", "tpl"), ("csharp", "tpl"), ("tbb", "onetbb")];

/// The library of this name.
pub fn named(name: &str) -> Option<&'static Library> {
    ALL.iter().find(|library| library.name == name)
}

impl Library {
    /// Finds what its program is built with.
    ///
    /// # Errors
    /// It is not here, or too old; the remedy says what to install.
    pub fn find(&self) -> Result<Toolchain, Missing> {
        let language: Option<&Language> = languages::named(self.language);
        let found = match language {
            Some(language) => (language.find)(None, &Source::Runtime(self.runtime.to_owned())),
            None => Err(Missing::new("this build has no such language", "")),
        };
        let toolchain = found.map_err(|why| Missing::new(why.reason, self.remedy))?;
        let too_old = self.language == "java" && languages::jdk_feature(&toolchain.version) < JDK;
        match too_old {
            true => Err(Missing::new(format!("{} is older than {JDK}", toolchain.version), self.remedy)),
            false => Ok(toolchain),
        }
    }

    /// What a reader starts to do the same by hand.
    pub fn by_hand(&self, toolchain: &Toolchain) -> String {
        match self.language {
            "java" => toolchain.beside("java"),
            _ => toolchain.program(),
        }
    }

    /// How its program is made.
    pub fn recipe(&self, toolchain: &Toolchain, site: Site<'_>) -> Recipe {
        (self.recipe)(toolchain, site)
    }

    /// The text of its program.
    pub fn text(&self) -> &'static str {
        embedded::GUIDE.iter().find(|(path, _)| *path == self.file).map_or("", |(_, text)| *text)
    }
}

fn one(step: Step, run: Command) -> Recipe {
    Recipe { files: Vec::new(), steps: vec![step], run }
}

fn cpp(compiler: &Toolchain, site: Site<'_>, name: &str, link: &str) -> Recipe {
    let program = site.out(name);
    let words = ["-std=c++20", "-O2", "-pthread"].map(str::to_owned).into_iter().chain(flags("CXXFLAGS"));
    let words = words.chain([format!("{name}.cpp"), "-o".to_owned(), program.clone(), link.to_owned()]);
    let step = Step::must(Command::new(compiler.program(), words.chain(flags("LDFLAGS"))));
    one(step, Command::new::<String>(program, []))
}

fn rayon(cargo: &Toolchain, site: Site<'_>) -> Recipe {
    let (manifest, target) = (site.src("rayon/Cargo.toml"), site.out("target"));
    let build = |more: &[&str]| Command {
        env: vec![("CARGO_TARGET_DIR".into(), target.clone())],
        // cargo and rustup look for settings in all folders above the one they are started in.
        directory: Some("/".into()),
        ..Command::new(
            cargo.program(),
            ["build", "--release", "--quiet", "--locked", "--manifest-path", &manifest]
                .iter()
                .chain(more)
                .copied(),
        )
    };
    let step = Step::must(build(&[])).or(build(&["--offline"]));
    let step = step.hint("cargo fetches what it depends on at the first build: is there a network?");
    one(step, Command::new::<String>(format!("{target}/release/guide-rayon"), []))
}

fn forkjoin(jdk: &Toolchain, site: Site<'_>) -> Recipe {
    let classes = site.out("classes");
    let words = ["-encoding", "UTF-8", "-d", &classes, "ForkJoin.java"];
    let step = Step::must(Command::new(jdk.program(), words));
    // Standard output is for samples alone; the clock is a function of C.
    let words =
        ["--enable-native-access=ALL-UNNAMED", "-XX:+DisplayVMOutputToStderr", "-cp", &classes, "ForkJoin"];
    one(step, Command::new(jdk.beside("java"), words))
}

/// A project of the one file, whose own settings (`#:property`) only `dotnet run` reads.
const PROJECT: &str = "<Project Sdk=\"Microsoft.NET.Sdk\">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <AssemblyName>tpl</AssemblyName>
    <TargetFramework>net10.0</TargetFramework>
    <RollForward>Major</RollForward>
    <Nullable>enable</Nullable>
    <ImplicitUsings>enable</ImplicitUsings>
    <TieredCompilation>false</TieredCompilation>
    <InvariantGlobalization>true</InvariantGlobalization>
    <EnableDefaultCompileItems>false</EnableDefaultCompileItems>
    <Features>$(Features);FileBasedProgram</Features>
  </PropertyGroup>
  <ItemGroup>
    <Compile Include=\"../tpl.cs\" />
  </ItemGroup>
</Project>
";
/// No package is needed, so none is fetched.
const NO_PACKAGES: &str = "<configuration><packageSources><clear /></packageSources></configuration>\n";

fn tpl(dotnet: &Toolchain, site: Site<'_>) -> Recipe {
    let (project, config, out) = (site.src("tpl/tpl.csproj"), site.src("tpl/nuget.config"), site.out(""));
    let config = format!("-p:RestoreConfigFile={config}");
    let mut words = vec!["build", &*project, "-c", "Release", "-v", "q", "--nologo", "-o", &*out];
    // Servers would outlive the build.
    words.extend(["-p:UseSharedCompilation=false", "-nodeReuse:false", "-noAutoResponse", &*config]);
    let quiet = ["DOTNET_CLI_TELEMETRY_OPTOUT", "DOTNET_NOLOGO", "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT"];
    let mut build = Command { directory: Some("/".into()), ..Command::new(dotnet.program(), words) };
    build.env = quiet.map(|name| (name.to_owned(), "1".to_owned())).into();
    build.env.push(("NUGET_PACKAGES".into(), site.src("../../nuget-packages")));
    build.env.push(("DOTNET_CLI_HOME".into(), site.src("../../dotnet-home")));
    let files =
        vec![("tpl/tpl.csproj".into(), PROJECT.into()), ("tpl/nuget.config".into(), NO_PACKAGES.into())];
    let run = Command::new(dotnet.program(), [site.out("tpl.dll")]);
    Recipe { files, steps: vec![Step::must(build)], run }
}
