//! A recipe says how a probe is made: its steps, and the command that comes out. It is plain data;
//! [`super::build`] follows it.

use std::path::{Path, PathBuf};

use taskscale_sys::process::Command;

/// What a probe is made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Our probe, for this runtime.
    Runtime(String),
    /// A single file of the user's.
    File(PathBuf),
}

/// The name of a user's file, as messages on it tell.
pub fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The folders in which a probe is made.
#[derive(Debug, Clone, Copy)]
pub struct Site<'a> {
    /// Holds the probe's sources, laid out. Steps are executed here.
    pub src: &'a Path,
    /// Receives what is built.
    pub out: &'a Path,
}

impl Site<'_> {
    /// Returns a path below `out`, as an argument.
    pub fn out(&self, name: &str) -> String {
        self.out.join(name).to_string_lossy().into_owned()
    }

    /// Returns a path below `src`, as an argument.
    pub fn src(&self, name: &str) -> String {
        self.src.join(name).to_string_lossy().into_owned()
    }
}

/// Makes a user's file an argument of a step. The step is executed in another folder than the
/// user's.
pub fn absolute(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).to_string_lossy().into_owned()
}

/// A step is done when one of its attempts ends with status 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Commands to try, in this order.
    pub attempts: Vec<Command>,
    /// Whether the probe is of use without it.
    pub optional: bool,
    /// Says what to look at first where it fails.
    pub hint: &'static str,
}

impl Step {
    /// Makes a step that must succeed.
    pub fn must(command: Command) -> Self {
        Step { attempts: vec![command], optional: false, hint: "" }
    }

    /// Makes a step without which the probe has fewer variants.
    pub fn may(command: Command) -> Self {
        Step { attempts: vec![command], optional: true, hint: "" }
    }

    /// Adds an attempt for when all before it failed.
    #[must_use]
    pub fn or(mut self, command: Command) -> Self {
        self.attempts.push(command);
        self
    }

    /// Says what to look at first where it fails, for the remedy.
    #[must_use]
    pub fn hint(mut self, hint: &'static str) -> Self {
        self.hint = hint;
        self
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    /// Files that are written beside the sources before the steps.
    pub files: Vec<(String, String)>,
    /// The steps, in the order in which they are taken.
    pub steps: Vec<Step>,
    /// The command that starts the probe.
    pub run: Command,
}
