//! What a run file does not tell of whoever took the run: home folders, user names, secrets.
//!
//! In every text of a record a home folder becomes `~`. In command lines, in the names of runtimes
//! that are commands, in reasons and in remedies the values of what is named like a secret become
//! [`HIDDEN`], and so do tokens that are known by their form. Of the commands that this tool was
//! given only plain words are told: those that hold nothing but what paths, options and numbers do.
//! In command lines, reasons and remedies the user's name becomes [`USER`] where it is a folder of
//! a path or stands before an `@`.

use serde_json::Value;

mod secrets;

/// Stands where a secret was.
pub const HIDDEN: &str = "***";
/// Stands where a user's name was.
pub const USER: &str = "USER";

/// Folders that hold home folders.
const HOMES: [&str; 4] = ["/home/", "/Users/", "/var/home/", "/export/home/"];
/// The home folder of the administrator.
const ROOT: &str = "/root";

/// Fields whose texts are the words of people and of programs, which may hold anything.
const FREE: [&str; 3] = ["command", "reason", "remedy"];
/// Fields that name runtimes, which may be by a command, and what probes say of theirs.
const NAMES: [&str; 5] = ["id", "runtime", "old_of", "version", "toolchain"];

/// Replaces what is not to be told.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    homes: Vec<String>,
    users: Vec<String>,
}

/// How much of a text is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Text {
    Plain,
    Name,
    Free,
    /// The words of a probe's command.
    Command,
}

impl Text {
    /// Whether it holds the words of people and of programs.
    fn is_free(self) -> bool {
        matches!(self, Text::Free | Text::Command)
    }
}

impl Redactor {
    /// Replaces home folders wherever they usually are, `home` besides, and the user's name.
    pub fn new(home: Option<&str>, user: Option<&str>) -> Self {
        let homes: Vec<String> = home
            .map(|home| home.trim_end_matches('/').to_owned())
            .into_iter()
            .filter(|home| home.len() > 1)
            .collect();
        let of_homes = homes.iter().filter_map(|home| home.rsplit('/').next()).map(str::to_owned);
        let mut users: Vec<String> = user.map(str::to_owned).into_iter().chain(of_homes).collect();
        users.retain(|user| user.len() > 1 && user != "root");
        Redactor { homes, users }
    }

    /// Learns whose home folders a record names.
    pub fn learn(&mut self, value: &Value) {
        match value {
            Value::String(text) => {
                for home in ["/home/", "/Users/"] {
                    for (at, _) in text.match_indices(home) {
                        // `/home//jane`, `/home/./jane`
                        let behind = &text[at + home.len()..];
                        let behind = behind.trim_start_matches("./").trim_start_matches('/');
                        let user = &behind[..name_len(behind)];
                        if user.len() > 1 && !self.users.iter().any(|known| known == user) {
                            self.users.push(user.to_owned());
                        }
                    }
                }
            }
            Value::Array(values) => values.iter().for_each(|value| self.learn(value)),
            Value::Object(fields) => fields.values().for_each(|value| self.learn(value)),
            _ => {}
        }
    }

    /// Whether nothing of an object of JSON needs to be looked at: no text in it has a path of a
    /// home folder. It tells of records alone that hold no words of people.
    pub fn is_plain(&self, object: &[u8]) -> bool {
        let has = |text: &str| object.windows(text.len()).any(|window| window == text.as_bytes());
        !(HOMES.iter().any(|home| has(home)) || has(ROOT) || self.homes.iter().any(|home| has(home)))
    }

    /// Replaces in all texts of a record.
    pub fn redact(&self, value: &mut Value) {
        self.within(value, Text::Plain);
    }

    fn within(&self, value: &mut Value, kind: Text) {
        match value {
            Value::String(text) => *text = self.text(text, kind),
            Value::Array(values) if kind.is_free() && values.iter().all(Value::is_string) => {
                let words: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
                let mut words = secrets::hide(&words);
                if kind == Text::Command {
                    words = words.iter().enumerate().map(secrets::hide_unless_plain).collect();
                }
                *values =
                    words.iter().map(|word| Value::String(self.without_user(&self.paths(word)))).collect();
            }
            Value::Array(values) => values.iter_mut().for_each(|value| self.within(value, kind)),
            Value::Object(fields) => {
                let is_runtime = fields.get("type").is_some_and(|kind| kind == "runtime");
                for (name, value) in fields {
                    self.within(value, kind_of(name, value, is_runtime));
                }
            }
            _ => {}
        }
    }

    fn text(&self, text: &str, kind: Text) -> String {
        let hidden = match kind {
            Text::Plain => text.to_owned(),
            Text::Name | Text::Free | Text::Command => secrets::hide_in(text),
        };
        let without_home = self.paths(&hidden);
        if kind.is_free() { self.without_user(&without_home) } else { without_home }
    }

    /// Writes home folders as `~`.
    fn paths(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        while let Some(next) = text[at..].chars().next() {
            match self.home_at(text, at) {
                Some(len) => {
                    out.push('~');
                    at += len;
                }
                None => {
                    out.push(next);
                    at += next.len_utf8();
                }
            }
        }
        out
    }

    /// The length of the home folder that begins at `at`.
    fn home_at(&self, text: &str, at: usize) -> Option<usize> {
        let rest = &text[at..];
        if !rest.starts_with('/') || !begins_path(text, at) {
            return None;
        }
        let whole = |len: &usize| name_len(&rest[*len..]) == 0;
        let own = self.homes.iter().map(String::as_str).chain([ROOT]);
        let own = own.filter(|home| rest.starts_with(home)).map(str::len).filter(whole);
        let usual = HOMES.iter().filter(|home| rest.starts_with(**home));
        let usual = usual
            .map(|home| home.len() + name_len(&rest[home.len()..]))
            .filter(|len| !rest[..*len].ends_with('/'));
        own.chain(usual).max()
    }

    /// Writes [`USER`] for a user's name that is a folder or stands before an `@`.
    fn without_user(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        while let Some(next) = text[at..].chars().next() {
            let len = name_len(&text[at..]);
            let (before, behind) = (text[..at].chars().next_back(), text[at + len..].chars().next());
            let is_folder = before == Some('/') && behind.is_none_or(|c| c == '/');
            if len > 0
                && self.users.iter().any(|user| *user == text[at..at + len])
                && (is_folder || behind == Some('@'))
            {
                out.push_str(USER);
                at += len;
            } else if len > 0 {
                out.push_str(&text[at..at + len]);
                at += len;
            } else {
                out.push(next);
                at += next.len_utf8();
            }
        }
        out
    }
}

fn kind_of(name: &str, value: &Value, of_runtime: bool) -> Text {
    match name {
        "command" if of_runtime => Text::Command,
        name if FREE.contains(&name) => Text::Free,
        name if NAMES.contains(&name) && value.is_string() => Text::Name,
        _ => Text::Plain,
    }
}

/// Whether a path may begin at `at`: it is no part of a longer path or word.
fn begins_path(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back();
    let is_free = before.is_none_or(|c| !(c.is_alphanumeric() || "/._-~".contains(c)));
    is_free || text[..at].ends_with("file://") || is_glued(&text[..at])
}

/// Whether a text ends in an option that what follows may be glued to: `-v/home/jane`.
fn is_glued(text: &str) -> bool {
    let before = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let is_option = before.len() < text.len() && before.ends_with('-');
    let front = before.trim_end_matches('-').chars().next_back();
    is_option && front.is_none_or(|c| c.is_whitespace() || "'\"".contains(c))
}

/// The length of what may be the name of a folder or of a user.
fn name_len(text: &str) -> usize {
    text.find(|c: char| !(c.is_alphanumeric() || "._-".contains(c))).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn redacted(mut value: Value) -> Value {
        let mut redactor = Redactor::new(Some("/srv/people/ada"), Some("ada"));
        redactor.learn(&value);
        redactor.redact(&mut value);
        value
    }

    #[test]
    fn home_folders_are_a_tilde_in_every_text() {
        for (text, expected) in [
            ("/home/jane/bin/go", "~/bin/go"),
            ("asyncio@/home/jane/.venv/bin/python", "asyncio@~/.venv/bin/python"),
            ("PATH=/home/jane/bin:/usr/bin:/Users/jane/x", "PATH=~/bin:/usr/bin:~/x"),
            ("/srv/people/ada/p.py", "~/p.py"),
            ("/srv/people/adam/p.py", "/srv/people/adam/p.py"),
            ("/root/x and /root", "~/x and ~"),
            ("/rooted", "/rooted"),
            ("file:///home/jane/x", "file://~/x"),
            ("/opt/home/jane", "/opt/home/jane"),
            ("-v/home/jane/x:/x -I/home/jane", "-v~/x:/x -I~"),
            ("/srv-x/home/jane", "/srv-x/home/jane"),
            ("/home/", "/home/"),
            ("'/home/j\u{fc}rgen/x y'", "'~/x y'"),
            ("", ""),
        ] {
            assert_eq!(redacted(json!({"variant": text})), json!({"variant": expected}));
        }
    }

    #[test]
    fn users_are_left_out_of_command_lines_and_of_nothing_else() {
        let before = json!({"command": ["ssh", "jane@host", "/tmp/jane/x", "/home/jane/y", "jane"], "variant": "x/jane/y"});
        let after =
            json!({"command": ["ssh", "USER@host", "/tmp/USER/x", "~/y", "jane"], "variant": "x/jane/y"});
        assert_eq!(redacted(before), after);
        for path in ["/nfs/home/jane/x", "/home//jane/x", "/home/./jane/x"] {
            let told = redacted(json!({"command": [path]})).to_string();
            assert!(!told.contains("jane") && told.contains("USER/x"), "{told}");
        }
        let own = json!({"reason": "no /tmp/ada/x"});
        assert_eq!(redacted(own), json!({"reason": "no /tmp/USER/x"}));
    }

    #[test]
    fn secrets_are_hidden_where_words_are_free_and_cases_stay() {
        let before = json!({
            "command": ["run", "--token", "abc", "PASSWORD=x"], "id": "sh p --token abc", "case": {"tokens": 512},
            "variant": "token=5", "state": "missing", "reason": "said: api_key=5", "remedy": "",
            "version": "1 https://u:abc@h/", "toolchain": "token=abc",
        });
        let after = json!({
            "command": ["run", "--token", "***", "PASSWORD=***"], "id": "sh p --token ***", "case": {"tokens": 512},
            "variant": "token=5", "state": "missing", "reason": "said: api_key=***", "remedy": "",
            "version": "1 https://***@h/", "toolchain": "token=***",
        });
        assert_eq!(redacted(before), after);
    }

    #[test]
    fn of_the_command_of_a_runtime_only_plain_words_are_told() {
        let before = json!({
            "type": "runtime",
            "command": ["./a{b}", "--config={x:S3k}", "Pa$$w0rd", "//u:S3k@h", "u:S3k@", "", "--size=5", "/home/jane/x"],
        });
        let after = json!({
            "type": "runtime",
            "command": ["***", "--config=***", "***", "***", "***", "", "--size=5", "~/x"],
        });
        assert_eq!(redacted(before), after);
        assert_eq!(redacted(after.clone()), after, "a redacted file may be redacted again");
        let own = json!({"type": "header", "command": ["taskscale", "run", "--variant", "a|b"]});
        assert_eq!(redacted(own.clone()), own);
    }

    #[test]
    fn plain_is_what_names_no_home() {
        let redactor = Redactor::new(Some("/srv/people/ada"), None);
        assert!(redactor.is_plain(br#"{"type":"sample","runtime":"go"}"#));
        for text in ["/home/x", "/root", "/srv/people/ada", "/Users/x"] {
            assert!(!redactor.is_plain(format!("{{\"a\":\"{text}\"}}").as_bytes()), "{text}");
        }
    }
}
