//! Files of the repository that code generates.

use std::{fs, path::PathBuf};

/// Holds a generated file to what the code gives, or writes it anew where the variable `GENERATED`
/// is `overwrite`.
///
/// # Panics
///
/// Panics where the file differs, and names the first line that does.
pub fn holds_generated(path: &str, text: &str) {
    let file = root().join(path);
    if std::env::var("GENERATED").is_ok_and(|value| value == "overwrite") {
        fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        fs::write(&file, text).expect("written");
    }
    let kept = fs::read_to_string(&file).unwrap_or_default();
    let differs = kept.lines().zip(text.lines()).position(|(a, b)| a != b);
    assert!(
        kept == text,
        "{path} is not what the code gives, from line {} on (run: GENERATED=overwrite cargo test -p taskscale-cli)",
        differs.unwrap_or_else(|| kept.lines().count().min(text.lines().count())) + 1
    );
}

/// The root of the repository.
pub fn root() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", ".."].iter().collect()
}
