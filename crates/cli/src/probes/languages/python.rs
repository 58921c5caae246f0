//! Python: nothing is built. uvloop, trio and anyio come from a virtual environment of ours where
//! the user asked for one.

use std::path::{Path, PathBuf};

use taskscale_model::missing::Missing;
use taskscale_sys::{own, process::Command};

use super::Language;
use crate::folders::absolute;
use crate::probes::{
    cache, content, embedded,
    embedded::content_hash,
    recipe::{Recipe, Site, Source, Step},
    toolchain::{Toolchain, ask_here, find_program, tell_found},
};

pub static PYTHON: Language = Language {
    name: "python",
    extension: "py",
    runtimes: &["asyncio", "uvloop", "trio", "anyio"],
    files: embedded::PYTHON_PROBE,
    find,
    recipe,
};

/// Names the file that pins the packages beside asyncio.
const REQUIREMENTS: &str = "requirements-optional.txt";

fn find(asked: Option<&str>, source: &Source) -> Result<Toolchain, Missing> {
    let remedy = "install Python 3.8 or newer, or name one: --runtime asyncio@/path/to/python3";
    let program = find_program(asked, &["python3", "python"], remedy);
    // The PATH may hold a shim of pyenv for a version that is installed and not switched on.
    let plain = match program.and_then(answering) {
        Ok(plain) => plain,
        Err(missing) => {
            let found = of_pyenv(asked).and_then(|program| answering(program).ok()).ok_or(missing)?;
            tell_found(asked.unwrap_or_default(), &found.program);
            found
        }
    };
    // asyncio is in every Python. A virtual environment would only be one more thing that can
    // differ.
    let wants_packages = !matches!(source, Source::Runtime(runtime) if runtime == "asyncio");
    let environment = Some(&plain).filter(|_| wants_packages).and_then(environment_of);
    Ok(environment.unwrap_or(plain))
}

/// Returns the interpreter that a program is or stands for. A shim of pyenv on the PATH and the
/// path that it leads to have to get one name: packages that were set up under one would be missing
/// under the other.
fn answering(program: PathBuf) -> Result<Toolchain, Missing> {
    let version = ask_here(&program, &["--version"])?;
    let itself = ask_here(&program, &["-c", "import sys; print(sys.executable)"]).map(PathBuf::from);
    let program = itself.ok().filter(|path| path.is_file()).unwrap_or(program);
    Ok(Toolchain { program, version })
}

/// Finds `python3.8` among the versions that pyenv has installed, and the last one of several.
fn of_pyenv(asked: Option<&str>) -> Option<PathBuf> {
    let wanted = asked?.strip_prefix("python")?;
    let root = absolute("PYENV_ROOT").or_else(|| absolute("HOME").map(|home| home.join(".pyenv")))?;
    let entries = std::fs::read_dir(root.join("versions")).ok()?.flatten();
    let is_it =
        |name: &str| name == wanted || name.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('.'));
    let found = entries.filter(|entry| is_it(&entry.file_name().to_string_lossy()));
    found.map(|entry| entry.path().join("bin/python")).filter(|path| own::is_safe_program(path)).max()
}

fn recipe(python: &Toolchain, source: &Source, site: Site<'_>) -> Recipe {
    let run = match source {
        Source::Runtime(runtime) => {
            let mut command = Command::new(python.program(), [site.src("taskscale_probe"), runtime.clone()]);
            // asyncio runs without the environment, in which the aiohttp of its server may be.
            if let Some(folder) = packages_of(python) {
                command.env.push(("TASKSCALE_PACKAGES".into(), folder.to_string_lossy().into_owned()));
            }
            command
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

/// Returns the name of the folder of an interpreter's virtual environment, whether it is there or
/// not.
pub fn environment_folder(python: &Toolchain) -> String {
    let wanted = requirements();
    format!("venvs/python-{:016x}", content_hash([&*python.program(), &*python.version, wanted]))
}

/// Returns the interpreter with the packages, where `taskscale setup` has made it.
fn environment_of(python: &Toolchain) -> Option<Toolchain> {
    let folder = cache::find(&environment_folder(python))?;
    let installed = cache::read(&folder.join("installed.txt"), content::LONGEST).ok()?;
    let program = interpreter(&folder);
    (installed == requirements() && program.is_file())
        .then(|| Toolchain { program, version: python.version.clone() })
}

/// Returns the folder in which the environment of an interpreter has its packages, where there is
/// one.
fn packages_of(python: &Toolchain) -> Option<PathBuf> {
    environment_of(python)?;
    let versions = std::fs::read_dir(cache::find(&environment_folder(python))?.join("venv/lib")).ok()?;
    versions.flatten().map(|version| version.path().join("site-packages")).find(|folder| folder.is_dir())
}

/// Returns the steps that make a virtual environment in `folder`. `installed.txt` is written when
/// all steps are done.
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

/// Returns the text that pins the packages.
pub fn requirements() -> &'static str {
    embedded::PYTHON_PROBE.iter().find(|(name, _)| *name == REQUIREMENTS).map_or("", |(_, text)| text)
}

fn interpreter(folder: &Path) -> PathBuf {
    folder.join("venv/bin/python")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_shim_is_the_interpreter_that_it_leads_to() {
        let python = find_program(None, &["python3"], "").and_then(answering).expect("python3");
        let folder = tempfile::tempdir().expect("a folder");
        let shim = folder.path().join("python3");
        std::fs::write(&shim, format!("#!/bin/sh\nexec {} \"$@\"\n", python.program())).expect("written");
        std::fs::set_permissions(&shim, PermissionsExt::from_mode(0o755)).expect("executable");
        assert_eq!(answering(shim).expect("it answers"), python);
    }
}
