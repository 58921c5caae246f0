//! Makes findings, one field after the other.

use taskscale_model::{
    doctor::{Effect, Figures, Finding, Severity},
    missing::{Missing, Reading},
};

/// A finding in the making.
pub struct Draft(Finding);

impl Draft {
    /// What was found of a subject.
    pub fn new(subject: &str, severity: Severity, found: impl Into<String>) -> Self {
        Draft(Finding {
            subject: subject.into(),
            severity,
            found: Reading::Value(found.into()),
            affects: Vec::new(),
            effect: None,
            remedy: String::new(),
        })
    }

    /// Which figures it touches.
    pub fn affects(mut self, figures: &[Figures]) -> Self {
        self.0.affects = figures.to_vec();
        self
    }

    /// What it does, as measured just now.
    pub fn measured(mut self, value: f64, unit: &str, says: impl Into<String>) -> Self {
        self.0.effect = Some(Effect { says: says.into(), value, unit: unit.into(), measured: true });
        self
    }

    /// What it does, as the system states it.
    pub fn stated(mut self, value: f64, unit: &str, says: impl Into<String>) -> Self {
        self.0.effect = Some(Effect { says: says.into(), value, unit: unit.into(), measured: false });
        self
    }

    /// What to do about it; nothing where all is well.
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        if self.0.severity != Severity::Ok {
            self.0.remedy = remedy.into();
        }
        self
    }

    /// The finding.
    pub fn done(self) -> Finding {
        self.0
    }
}

/// A subject of which nothing is known: it may matter, so it is a note.
pub fn unknown(subject: &str, missing: &Missing, affects: &[Figures]) -> Finding {
    Finding {
        subject: subject.into(),
        severity: Severity::Note,
        found: Reading::Missing(Missing::new(missing.reason.clone(), "")),
        affects: affects.to_vec(),
        effect: None,
        remedy: missing.remedy.clone(),
    }
}

/// [`Severity::Ok`] below `note`, a note from there, a warning from `warning`.
pub fn grade(value: f64, note: f64, warning: f64) -> Severity {
    match value {
        value if value >= warning => Severity::Warning,
        value if value >= note => Severity::Note,
        _ => Severity::Ok,
    }
}
