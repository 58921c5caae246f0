//! JavaScript on Node: nothing is built.

use taskscale_model::missing::Missing;
use taskscale_sys::process::Command;

use super::Language;
use crate::probes::{
    embedded,
    recipe::{Recipe, Site, Source},
    toolchain::{Toolchain, ask_version, find_program},
};

pub static NODE: Language = Language {
    name: "node",
    extension: "mjs",
    runtimes: &["node"],
    files: embedded::NODE_PROBE,
    find,
    recipe,
};

fn find(asked: Option<&str>, _: &Source) -> Result<Toolchain, Missing> {
    let remedy = "install Node 18.19 or newer, or name one: --runtime node@/path/to/node";
    let program = find_program(asked, &["node", "nodejs"], remedy)?;
    let version = ask_version(&program, &["--version"])?;
    Ok(Toolchain { program, version: format!("Node {version}") })
}

fn recipe(node: &Toolchain, source: &Source, site: Site<'_>) -> Recipe {
    let run = match source {
        Source::Runtime(runtime) => Command::new(node.program(), [site.src("main.mjs"), runtime.clone()]),
        Source::File(path) => {
            // The import goes through the environment, so that a user's own `node --flag
            // my_probe.mjs` gets it as well.
            let mut command = Command::new(node.program(), [path.to_string_lossy()]);
            let options = std::env::var("NODE_OPTIONS").unwrap_or_default();
            let import = format!("--import={} {options}", url(&site.src("sdk/register.mjs")));
            command.env.push(("NODE_OPTIONS".into(), import.trim_end().to_owned()));
            command
        }
    };
    Recipe { files: Vec::new(), steps: Vec::new(), run }
}

/// Makes a URL of a path, which is what `--import` takes. A `%`, a `#` or a blank in the path would
/// mean something else.
fn url(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let letter = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    format!("file://{}", path.bytes().map(letter).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_itself_as_a_url() {
        assert_eq!(url("/opt/a-b/x_1.mjs"), "file:///opt/a-b/x_1.mjs");
        assert_eq!(url("/a b/50%/#1?\u{e4}"), "file:///a%20b/50%25/%231%3F%C3%A4");
    }
}
