//! `taskscale new-probe`: writes the smallest working probe of a language, for the user to change.

use std::{fs::OpenOptions, io::Write, path::PathBuf};

use anyhow::{Context, bail};
use taskscale_bench::meant;

use crate::{
    args::NewProbeArgs,
    commands::setup::languages_known,
    names,
    output::{self, Outcome, print},
    probes::languages,
};

/// Writes the file and says how to use it. An existing file is not written over.
pub fn new_probe(args: &NewProbeArgs) -> anyhow::Result<Outcome> {
    let language = languages::named(&args.language)
        .or_else(|| languages::ALL.iter().find(|one| one.extension == args.language).copied());
    let Some((name, text)) = language.and_then(|language| language.skeleton()) else {
        let rest = format!("there are {}", languages_known());
        if let Some(names) = names::languages_of(&args.language) {
            bail!("no probe can be begun in {:?}; write {}", args.language, names.join(" or "));
        }
        let known = languages::ALL.iter().map(|language| language.name);
        bail!(
            "no probe can be begun in {:?}; {}",
            args.language,
            meant::or_else(&args.language, known, &rest)
        );
    };
    let path = args.file.clone().unwrap_or_else(|| PathBuf::from(name));
    let mut file =
        OpenOptions::new().write(true).create_new(true).open(&path).with_context(|| match path.exists() {
            true => format!(
                "{} exists; choose another name: taskscale new-probe {} FILE",
                path.display(),
                args.language
            ),
            false => format!("cannot write {}", path.display()),
        })?;
    file.write_all(text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
    let word = output::word(&path);
    print(&format!(
        "{} is a whole probe. Change what it does, then\n  \
         taskscale probe check {word}\n  taskscale run --probe {word}\n",
        path.display()
    ))?;
    Ok(Outcome::Done)
}
