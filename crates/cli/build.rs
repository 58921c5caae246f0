//! Lists what the binary carries: suites, sources of probes, and the smallest probe of each
//! language. A file that is added to a probe is thereby in the binary without being named a second
//! time.

use std::{
    env,
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
};

/// The extensions of what is compiled or interpreted. Everything else in a probe's folder (README,
/// tests, build products) stays out.
const SOURCES: [&str; 24] = [
    "py", "go", "mod", "sum", "java", "mjs", "cpp", "hpp", "swift", "rs", "toml", "lock", "txt", "cs", "fs",
    "fsx", "csproj", "fsproj", "props", "targets", "config", "ml", "c", "sh",
];
/// Folders that hold no part of a probe.
const NO_PART: [&str; 7] = ["tests", "target", "build", "__pycache__", "node_modules", "bin", "obj"];

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?).join("../..");
    let mut text = String::new();
    let probes = ["cpp", "dotnet", "go", "java", "node", "ocaml", "python", "rust", "swift"];
    for (constant, folder) in probes
        .map(|name| (format!("{}_PROBE", name.to_uppercase()), format!("probes/{name}")))
        .into_iter()
        .chain([
            ("SUITES".into(), "suites".into()),
            ("EXAMPLES".into(), "examples/probes".into()),
            ("GUIDE".into(), "probes/guide".into()),
        ])
    {
        let folder = root.join(folder);
        println!("cargo:rerun-if-changed={}", folder.display());
        let mut files = Vec::new();
        if folder.is_dir() {
            walk(&folder, &folder, &mut files)?;
        }
        files.sort();
        writeln!(text, "pub const {constant}: &[(&str, &str)] = &[").map_err(io::Error::other)?;
        for name in files {
            let path = folder.join(&name).canonicalize()?;
            writeln!(text, "    ({name:?}, include_str!({path:?})),").map_err(io::Error::other)?;
        }
        text.push_str("];\n");
    }
    fs::write(PathBuf::from(env::var("OUT_DIR").map_err(io::Error::other)?).join("embedded.rs"), text)
}

fn walk(folder: &Path, root: &Path, into: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if !name.starts_with('.') && !NO_PART.contains(&&*name) {
                walk(&path, root, into)?;
            }
        } else if !name.ends_with("_test.go")
            && path.extension().is_some_and(|extension| SOURCES.iter().any(|one| extension == *one))
        {
            let below = path.strip_prefix(root).map_err(io::Error::other)?;
            into.push(below.to_string_lossy().into_owned());
        }
    }
    Ok(())
}
