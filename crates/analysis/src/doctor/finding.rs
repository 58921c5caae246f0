//! Builds findings, one field after another.

use taskscale_model::{
    doctor::{Effect, Figures, Finding, Severity},
    missing::{Missing, Reading},
};

/// A finding under construction.
pub struct Draft(Finding);

impl Draft {
    /// Starts a finding from what was found of a subject.
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

    /// Names the figures that it touches.
    pub fn affects(mut self, figures: &[Figures]) -> Self {
        self.0.affects = figures.to_vec();
        self
    }

    /// Says what it does to the figures, as measured.
    pub fn measured(mut self, value: f64, unit: &str, says: impl Into<String>) -> Self {
        self.0.effect = Some(Effect { says: says.into(), value, unit: unit.into(), measured: true });
        self
    }

    /// Says what it does to the figures, as the system states it.
    pub fn stated(mut self, value: f64, unit: &str, says: impl Into<String>) -> Self {
        self.0.effect = Some(Effect { says: says.into(), value, unit: unit.into(), measured: false });
        self
    }

    /// Says what to do about it. A finding without need of action has none.
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        if self.0.severity != Severity::Ok {
            self.0.remedy = remedy.into();
        }
        self
    }

    pub fn done(self) -> Finding {
        self.0
    }
}

/// A finding on a subject of which nothing is known. It may matter, so it is a note.
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

/// [`Severity::Ok`] below `note`, a note from `note` on, a warning from `warning` on.
pub fn grade(value: f64, note: f64, warning: f64) -> Severity {
    match value {
        value if value >= warning => Severity::Warning,
        value if value >= note => Severity::Note,
        _ => Severity::Ok,
    }
}
