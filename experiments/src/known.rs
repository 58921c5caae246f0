//! Programs of a known number of allocations and system calls, in `experiments/counts`.

use std::{
    io,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, ensure};

/// Compiles a program or library of C.
///
/// # Errors
/// There is no compiler, or it fails; with what it said.
pub fn compile(source: &Path, to: &Path, flags: &[&str]) -> anyhow::Result<PathBuf> {
    must(Command::new("cc").args(flags).arg(source).arg("-o").arg(to).args(["-ldl", "-pthread"]))?;
    Ok(to.to_owned())
}

/// Runs a command that must succeed.
///
/// # Errors
/// It does not; with what it said.
pub fn must(command: &mut Command) -> anyhow::Result<()> {
    let output = command.output().with_context(|| format!("{:?}", command.get_program()))?;
    let words = [output.stdout, output.stderr].concat();
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&words));
    Ok(())
}

/// Tells whether an error says that a program is not installed.
pub fn is_absent(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::NotFound)
}
