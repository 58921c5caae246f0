//! What must hold for any file that is named as partial sums: no panic, sums that are read
//! as they were written, and merges whose order does not show.

use serde_json::Value;
use taskscale_digest::partial::{digest, merge};
use taskscale_model::partial::{Partial, read, write};
use taskscale_testkit::made::HOSTILE;

use crate::edit::edit;

const SAMPLE: &str = include_str!("../../crates/model/src/partial/small.partial");

/// Any bytes, or edits of the sample, which then has the right check.
pub fn check_partial(bytes: &[u8]) {
    let Some((way, rest)) = bytes.split_first() else { return };
    let file = match way % 2 {
        0 => rest.to_vec(),
        _ => match changed(rest) {
            Some(file) => file,
            None => return,
        },
    };
    let Ok(partial) = read(&file) else { return };
    assert_eq!(read(&write(&partial)).as_ref(), Ok(&partial), "what is written is read");
    let sample = read(SAMPLE.as_bytes()).expect("the sample");
    let both = |first: &Partial, second: &Partial| {
        let mut whole = first.clone();
        merge(&mut whole, second);
        whole
    };
    let whole = both(&partial, &sample);
    assert_eq!(write(&whole), write(&both(&sample, &partial)), "the order shows");
    assert_eq!(
        write(&both(&both(&partial, &partial), &sample)),
        write(&both(&partial, &both(&partial, &sample))),
        "the tree shows"
    );
    let digest = digest(&whole);
    taskscale_report::digest_text(&digest);
    let _: taskscale_model::digest::Digest =
        serde_json::from_str(&taskscale_report::digest_json(&digest)).expect("its own JSON");
}

/// The file of the sample with values of it changed; `None` where it is no partial any more.
fn changed(edits: &[u8]) -> Option<Vec<u8>> {
    let mut value: Value = serde_json::from_str(SAMPLE).ok()?;
    value.as_object_mut()?.remove("crc32");
    edit(&mut value, edits, &HOSTILE);
    let partial: Partial = serde_json::from_str(&value.to_string()).ok()?;
    Some(write(&partial))
}
