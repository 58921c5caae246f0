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
    runtimes: &["node", LARGE_SEMI_SPACE],
    files: embedded::NODE_PROBE,
    find,
    recipe,
};

/// Node with a young heap that does not fill, since V8 cannot turn its collector off.
const LARGE_SEMI_SPACE: &str = "node+large-semi-space";

/// Its flags, sizes in MB: a million promises of the dearest form take some 600, and only what is
/// used becomes memory. The heap is emptied by a call before each sample.
const LARGE_FLAGS: [&str; 3] = ["--expose-gc", "--min-semi-space-size=2048", "--max-semi-space-size=2048"];

fn find(asked: Option<&str>, _: &Source) -> Result<Toolchain, Missing> {
    let remedy = "install Node 18.19 or newer, or name one: --runtime node@/path/to/node";
    let program = find_program(asked, &["node", "nodejs"], remedy)?;
    let version = ask_version(&program, &["--version"])?;
    Ok(Toolchain { program, version: format!("Node {version}") })
}

fn recipe(node: &Toolchain, source: &Source, site: Site<'_>) -> Recipe {
    let run = match source {
        Source::Runtime(runtime) => {
            let flags = if runtime == LARGE_SEMI_SPACE { &LARGE_FLAGS[..] } else { &[] };
            let words = flags.iter().map(|flag| (*flag).to_owned());
            Command::new(
                node.program(),
                words.chain([site.src("main.mjs"), runtime.clone()]).collect::<Vec<_>>(),
            )
        }
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
    use std::path::Path;

    #[test]
    fn a_young_heap_is_large_where_the_runtime_says_so() {
        let node = Toolchain { program: "/opt/node".into(), version: "Node v22".into() };
        let site = Site { src: Path::new("/c/probes/x/src"), out: Path::new("/c/probes/x/out") };
        for (runtime, flags) in [("node", &[][..]), (LARGE_SEMI_SPACE, &LARGE_FLAGS[..])] {
            let run = recipe(&node, &Source::Runtime(runtime.into()), site).run;
            // Flags of Node stand before its file.
            assert_eq!(run.args[..flags.len()], *flags);
            assert_eq!(run.args[flags.len()..], ["/c/probes/x/src/main.mjs".to_owned(), runtime.to_owned()]);
        }
    }

    #[test]
    fn a_path_is_itself_as_a_url() {
        assert_eq!(url("/opt/a-b/x_1.mjs"), "file:///opt/a-b/x_1.mjs");
        assert_eq!(url("/a b/50%/#1?\u{e4}"), "file:///a%20b/50%25/%231%3F%C3%A4");
    }
}
