//! `taskscale completions` and `taskscale man`: what a shell and a reader of manuals want. Both
//! follow the one definition of the flags.

use std::path::Path;

use anyhow::Context;
use clap::CommandFactory;

use crate::{
    args::Cli,
    complete,
    output::{Outcome, print},
};

pub fn completions(shell: clap_complete::Shell) -> anyhow::Result<Outcome> {
    print(&complete::script(shell)?)?;
    Ok(Outcome::Done)
}

/// Prints the main page, then one section per subcommand.
pub fn man() -> anyhow::Result<Outcome> {
    let mut text = Vec::new();
    let mut command = Cli::command();
    command.build();
    clap_mangen::Man::new(command.clone()).render(&mut text)?;
    for subcommand in command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help") {
        let man = clap_mangen::Man::new(subcommand.clone());
        man.render_title(&mut text)?;
        man.render_name_section(&mut text)?;
        man.render_synopsis_section(&mut text)?;
        man.render_description_section(&mut text)?;
        man.render_options_section(&mut text)?;
        man.render_extra_section(&mut text)?;
    }
    print(&String::from_utf8(text)?)?;
    Ok(Outcome::Done)
}

/// Writes a page for the command and for each subcommand, as `man taskscale-run` wants them.
pub fn man_pages(folder: &Path) -> anyhow::Result<Outcome> {
    let shown = folder.display();
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {shown}"))?;
    clap_mangen::generate_to(Cli::command(), folder).with_context(|| format!("cannot write into {shown}"))?;
    Ok(Outcome::Done)
}
