//! Holds what `build.rs` found for the binary to carry: the path below its folder, and the text, of
//! each file.

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// Returns the paths of the files in `folder` that end with `ending`.
pub fn below<'a>(
    files: &'a [(&'a str, &'a str)],
    folder: &'a str,
    ending: &'a str,
) -> impl Iterator<Item = &'a str> {
    files.iter().map(|(name, _)| *name).filter(move |name| name.starts_with(folder) && name.ends_with(ending))
}

/// Hashes texts by FNV-1a, each ended by a byte that no text holds. The hash names a folder whose
/// content must not mix with another's. It is no guard: a user who can write into the cache can
/// write anything.
pub fn content_hash<'a>(texts: impl IntoIterator<Item = &'a str>) -> u64 {
    let bytes = texts.into_iter().flat_map(|text| text.bytes().chain([0xFF]));
    bytes.fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_probe_brings_its_sdk_and_its_workloads() {
        for (name, files) in [
            ("cpp", CPP_PROBE),
            ("dotnet", DOTNET_PROBE),
            ("go", GO_PROBE),
            ("java", JAVA_PROBE),
            ("node", NODE_PROBE),
            ("ocaml", OCAML_PROBE),
            ("python", PYTHON_PROBE),
            ("rust", RUST_PROBE),
            ("swift", SWIFT_PROBE),
        ] {
            for part in ["sdk/", "workloads/"] {
                assert!(files.iter().any(|(path, _)| path.contains(part)), "{name} has no {part}");
            }
            assert!(files.iter().all(|(path, _)| !path.contains("test_")), "{name} brings its tests");
        }
        assert!(SUITES.iter().any(|(path, _)| *path == "fanout.toml"));
    }

    #[test]
    fn texts_do_not_run_into_each_other() {
        assert_ne!(content_hash(["ab", "c"]), content_hash(["a", "bc"]));
    }
}
