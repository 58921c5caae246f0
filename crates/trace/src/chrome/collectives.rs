//! Collectives of PyTorch on CPUs, which are annotations and no operators.

use crate::{json::unescaped, workers::short_name};

/// The collectives that are left out.
#[derive(Debug, Default)]
pub struct Collectives {
    /// The name of the first.
    first: String,
    count: u64,
}

impl Collectives {
    /// Looks at the name of an annotation. The name of a collective begins with its backend. Those
    /// of GPUs are not looked for: they show as kernels.
    #[cold]
    pub fn see(&mut self, name: &[u8]) {
        if ![&b"gloo:"[..], b"mpi:", b"ucc:"].iter().any(|backend| name.starts_with(backend)) {
            return;
        }
        if self.count == 0 {
            self.first = short_name(&unescaped(name));
        }
        self.count += 1;
    }

    /// Tells of them, where there are any.
    pub fn note(&self) -> Option<String> {
        let Collectives { first, count } = self;
        (*count > 0).then(|| {
            format!(
                "{count} collectives such as \"{first}\" are annotations, not counted (--cat user_annotation counts them)"
            )
        })
    }
}
