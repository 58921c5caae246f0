//! Python: nothing is built. uvloop, trio and anyio come from a virtual environment of ours where the user asked for one.

use std::path::{Path, PathBuf};

use taskscale_model::missing::Missing;
use taskscale_sys::process::Command;

use super::Language;
use crate::probes::{
    cache, embedded,
    embedded::content_hash,
    recipe::{Recipe, Site, Source, Step},
    toolchain::{Toolchain, ask_version, find_program},
};

pub static PYTHON: Language = Language {
    name: "python",
    extension: "py",
    runtimes: &["asyncio", "uvloop", "trio", "anyio"],
    files: embedded::PYTHON_PROBE,
    find,
    recipe,
};

/// The packages beside asyncio, pinned.
const REQUIREMENTS: &str = "requirements-optional.txt";

fn find(asked: Option<&str>, source: &Source) -> Result<Toolchain, Missing> {
    let remedy = "install Python 3.8 or newer, or name one: --runtime asyncio@/path/to/python3";
    let program = find_program(asked, &["python3", "python"], remedy)?;
    let version = ask_version(&program, &["--version"])?;
    let plain = Toolchain { program, version };
    // asyncio is in every Python: a virtual environment would only be one more thing that can differ.
    let wants_packages = !matches!(source, Source::Runtime(runtime) if runtime == "asyncio");
    let environment = Some(&plain).filter(|_| wants_packages).and_then(environment_of);
    Ok(environment.unwrap_or(plain))
}

fn recipe(python: &Toolchain, source: &Source, site: Site<'_>) -> Recipe {
    let run = match source {
        Source::Runtime(runtime) => {
            Command::new(python.program(), [site.src("taskscale_probe"), runtime.clone()])
        }
        Source::File(path) => {
            let mut command = Command::new(python.program(), [path.to_string_lossy().into_owned()]);
            let beside = std::env::var("PYTHONPATH").map(|path| format!(":{path}")).unwrap_or_default();
            command.env.push(("PYTHONPATH".into(), format!("{}{beside}", site.src.display())));
            command
        }
    };
    Recipe { files: Vec::new(), steps: Vec::new(), run }
}

/// The name of the folder in which the virtual environment of an interpreter is, or would be.
pub fn environment_folder(python: &Toolchain) -> String {
    let wanted = requirements();
    format!("venvs/python-{:016x}", content_hash([&*python.program(), &*python.version, wanted]))
}

/// Interpreter with the packages, where `taskscale setup` has made it.
fn environment_of(python: &Toolchain) -> Option<Toolchain> {
    let folder = cache::find(&environment_folder(python))?;
    let installed = std::fs::read_to_string(folder.join("installed.txt")).ok()?;
    let program = interpreter(&folder);
    (installed == requirements() && program.is_file())
        .then(|| Toolchain { program, version: python.version.clone() })
}

/// How a virtual environment is made in `folder`: `installed.txt` is written when all steps are done.
pub fn environment_steps(python: &Toolchain, folder: &Path) -> Vec<Step> {
    let venv = folder.join("venv").to_string_lossy().into_owned();
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "-r"];
    let wanted = folder.join("src").join(REQUIREMENTS).to_string_lossy().into_owned();
    let install = Command::new(
        interpreter(folder).to_string_lossy(),
        pip.into_iter().map(str::to_owned).chain([wanted]),
    );
    vec![
        Step::must(Command::new(python.program(), ["-m".into(), "venv".into(), "--clear".into(), venv])),
        Step::must(install),
    ]
}

/// The pinned packages.
pub fn requirements() -> &'static str {
    embedded::PYTHON_PROBE.iter().find(|(name, _)| *name == REQUIREMENTS).map_or("", |(_, text)| text)
}

fn interpreter(folder: &Path) -> PathBuf {
    folder.join("venv/bin/python")
}
