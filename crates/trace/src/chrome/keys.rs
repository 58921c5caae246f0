//! What identifies threads, flows and asynchronous events, as hashes.

use taskscale_model::answer::splitmix;

use crate::{bytes::hash, workers::Id};

use super::event::Event;

/// Identifies the stack that a `B` or `E` belongs to.
pub fn thread_key(process: Id, thread: Id) -> u64 {
    splitmix(splitmix(process.bits()) ^ thread.bits())
}

/// Hashes what identifies a flow: category, name and id.
pub fn flow_key(event: &Event<'_>) -> u64 {
    hash(event.cat.raw, hash(event.name.raw, splitmix(event.id.bits())))
}

/// Hashes what identifies an asynchronous event: category, id, name and process.
pub fn async_key(event: &Event<'_>) -> u64 {
    let seed = event.process.bits() ^ event.id.bits().rotate_left(32);
    hash(event.cat.raw, hash(event.name.raw, splitmix(seed)))
}
