//! `taskscale.digests/1`: a digest of each group of sources, and of the whole.

use serde::{Deserialize, Serialize};

use super::Digest;

/// The value of [`Groups::schema`].
pub const GROUPS_SCHEMA: &str = "taskscale.digests/1";

/// Digests of groups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Groups {
    /// [`GROUPS_SCHEMA`].
    #[cfg_attr(feature = "schema", schemars(extend("const" = GROUPS_SCHEMA)))]
    pub schema: String,
    /// What sources are grouped by: `host`, `stage` or `rank`.
    pub by: String,
    /// The groups, the one that lost the largest share of its worker time first.
    pub groups: Vec<Group>,
    /// All sources together.
    pub whole: Digest,
}

/// One group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Group {
    /// The host, the stage or the rank; empty where it was not told.
    pub name: String,
    /// The number of sources.
    pub sources: u64,
    pub digest: Digest,
}

impl Groups {
    /// Puts groups in order: the largest lost share first, and of equal ones by name.
    pub fn new(by: &str, mut groups: Vec<Group>, whole: Digest) -> Self {
        let lost = |group: &Group| group.digest.losses.lost();
        groups.sort_by(|a, b| lost(b).total_cmp(&lost(a)).then_with(|| a.name.cmp(&b.name)));
        Groups { schema: GROUPS_SCHEMA.to_owned(), by: by.to_owned(), groups, whole }
    }
}
