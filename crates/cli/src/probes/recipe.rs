//! How a probe is made: steps, and the command that comes out. Plain data; [`super::build`] follows
//! it.

use std::path::{Path, PathBuf};

use taskscale_sys::process::Command;

/// What a probe is made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Ours, for this runtime.
    Runtime(String),
    /// A file of the user's, alone.
    File(PathBuf),
}

/// Where it is made.
#[derive(Debug, Clone, Copy)]
pub struct Site<'a> {
    /// The probe's sources, laid out; steps are executed here.
    pub src: &'a Path,
    /// What comes out goes here.
    pub out: &'a Path,
}

impl Site<'_> {
    /// A path below `out`, as an argument.
    pub fn out(&self, name: &str) -> String {
        self.out.join(name).to_string_lossy().into_owned()
    }

    /// A path below `src`, as an argument.
    pub fn src(&self, name: &str) -> String {
        self.src.join(name).to_string_lossy().into_owned()
    }
}

/// A user's file as an argument of a step, which is executed in another folder than theirs.
pub fn absolute(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).to_string_lossy().into_owned()
}

/// One step. It is done when one of its attempts ends with status 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Commands to try, in this order.
    pub attempts: Vec<Command>,
    /// Whether the probe is of use without it.
    pub optional: bool,
    /// What to look at first where it fails.
    pub hint: &'static str,
}

impl Step {
    /// A step that must succeed.
    pub fn must(command: Command) -> Self {
        Step { attempts: vec![command], optional: false, hint: "" }
    }

    /// A step without which the probe has fewer variants.
    pub fn may(command: Command) -> Self {
        Step { attempts: vec![command], optional: true, hint: "" }
    }

    /// What to try when all before it failed.
    #[must_use]
    pub fn or(mut self, command: Command) -> Self {
        self.attempts.push(command);
        self
    }

    /// What to look at first where it fails, for the remedy.
    #[must_use]
    pub fn hint(mut self, hint: &'static str) -> Self {
        self.hint = hint;
        self
    }
}

/// How a probe is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    /// Files to write beside the sources first.
    pub files: Vec<(String, String)>,
    /// In this order.
    pub steps: Vec<Step>,
    /// How it is started afterwards.
    pub run: Command,
}
