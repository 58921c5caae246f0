//! Finds secrets in the words of a command line: by the name of their option or variable, by their
//! place in an address, or by their form.

use std::borrow::Cow;

mod known;

use super::HIDDEN;
use known::{
    ABOUT, APART, ASSIGN, COMMANDS, DOUBTFUL, ENDINGS, FORMS, HOOKS, KEYS, LOGINS, LOOKED_AT, NAMES, OWN,
    PARTS, PEM, QUOTED, SCHEMES, SECRETS, SETS,
};

/// Which values of a name are secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    /// All.
    Any,
    /// What is no number, path or switch.
    Word,
    /// The same, with digits and letters.
    Mixed,
    /// The same, with small and capital ones.
    Jumbled,
    /// All that is no number.
    Given,
    /// What stands behind a colon, or a percent sign.
    Login,
}

impl Value {
    /// Hides a value, where it is one.
    fn hidden(self, value: &str) -> Option<String> {
        let looked_at = (0..=value.len().min(LOOKED_AT)).rev().find(|at| value.is_char_boundary(*at));
        let bare = value[..looked_at.unwrap_or(0)].trim_matches(['\'', '"', '\\']);
        let has = |is: fn(&char) -> bool| bare.chars().any(|c| is(&c));
        let is_word = || {
            let is_switch = ["true", "false", "none"].contains(&&*bare.to_ascii_lowercase());
            let is_path = bare.contains('/') || bare.starts_with(['.', '~']);
            bare.len() >= 4 && has(|c| c.is_alphabetic()) && !is_switch && !is_path
        };
        let is_mixed = || bare.len() >= 8 && is_word() && has(char::is_ascii_digit);
        let is = match self {
            Value::Any => true,
            Value::Given => !bare.is_empty() && has(|c| !c.is_ascii_digit()),
            Value::Word => is_word(),
            Value::Mixed => is_mixed(),
            Value::Jumbled => is_mixed() && has(char::is_ascii_uppercase) && has(char::is_ascii_lowercase),
            Value::Login => {
                let at = value.find([':', '%'])?;
                let password = &value[at + 1..];
                let is_number = password.bytes().all(|byte| byte.is_ascii_digit());
                return (!is_number && !password.starts_with('/'))
                    .then(|| format!("{}{HIDDEN}", &value[..=at]));
            }
        };
        is.then(|| HIDDEN.to_owned())
    }
}

/// What a shell takes for the end of a word.
const BLANKS: [char; 3] = [' ', '\t', '\n'];

/// Hides secrets among the words of a command line.
pub fn hide(words: &[&str]) -> Vec<String> {
    let mut next: Option<Value> = None;
    // What a value ends with that is in quotation marks, and how many of its words may follow.
    let mut open: Option<(char, usize)> = None;
    // What a header ends with whose secret comes next.
    let mut header: Option<char> = None;
    let mut own: Vec<(&str, Value, bool)> = Vec::new();
    let mut before = "";
    let mut hidden = Vec::with_capacity(words.len());
    for &word in words {
        let last = std::mem::replace(&mut before, word);
        if let Some((quote, left)) = open {
            open = (!word.contains(quote) && left > 1).then_some((quote, left - 1));
            hidden.push(HIDDEN.to_owned());
            continue;
        }
        // An argument that holds a whole line, as of `sh -c`, is looked at word by word.
        let is_command = COMMANDS.contains(&last);
        if next.is_none() && (is_command || word.contains(BLANKS)) {
            hidden.push(header_line(word).unwrap_or_else(|| hide_in_command(word)));
            continue;
        }
        // `--password = secret`, `password = secret`
        let is_between = ["=", ":"].contains(&word);
        if is_between && next.is_none() && is_secret(last) {
            next = Some(Value::Any);
        }
        let is_empty = ["", "''", "\"\""].contains(&word);
        if next.is_some() && (is_between || is_empty) {
            hidden.push(word.to_owned());
            continue;
        }
        for option in options_of(word) {
            if !own.contains(&option) {
                own.push(option);
            }
        }
        let is_scheme = next.is_some() && is_scheme(word);
        // What looks like an option is one, unless it looks like a password too.
        let may_be_value = !word.starts_with('-') || Value::Mixed.hidden(word).is_some();
        let value = next.filter(|_| may_be_value && !is_scheme).and_then(|is| is.hidden(word));
        let is_value = value.is_some();
        let out = value.or_else(|| glued(word, &own)).unwrap_or_else(|| hide_in_word(word));
        let told = if is_value { word } else { word.split_once(['=', ':']).map_or("", |(_, value)| value) };
        if out.contains(HIDDEN) {
            let of_header = header.take().filter(|quote| is_value && !word.contains(*quote));
            open = unclosed(told).or(of_header).map(|quote| (quote, QUOTED));
        }
        let goes_on = out.contains(HIDDEN) && word.ends_with('\\');
        next = match () {
            () if is_scheme || goes_on => Some(Value::Any),
            () if is_value => None,
            () if SETS.contains(&last)
                && !word.starts_with('-')
                && !word.contains('=')
                && is_secret(word) =>
            {
                Some(Value::Any)
            }
            () => {
                let of_program = own.iter().find(|(option, _, apart)| *apart && *option == word);
                header = opened(word).filter(|_| word.contains(':'));
                of_program.map(|(_, value, _)| *value).or_else(|| announced(word))
            }
        };
        hidden.push(out);
    }
    hidden
}

/// The options that mean a secret behind the program of this name.
fn options_of(word: &str) -> impl Iterator<Item = (&'static str, Value, bool)> {
    let program = word.rsplit('/').next().unwrap_or_default();
    let of = OWN.iter().filter(move |(programs, ..)| programs.contains(&program));
    of.map(|(_, option, value, apart)| (*option, *value, *apart))
}

/// Hides a value that follows the option of a program without a space: `mysql -psecret`.
fn glued(word: &str, own: &[(&'static str, Value, bool)]) -> Option<String> {
    own.iter().filter(|(option, ..)| option.len() == 2).find_map(|(option, value, _)| {
        let hidden = value.hidden(word.strip_prefix(option).filter(|value| !value.is_empty())?)?;
        Some(format!("{option}{hidden}"))
    })
}

/// Hides all of a header's value but its scheme, where a word begins with the name of one.
fn header_line(word: &str) -> Option<String> {
    let (name, value) = word.split_once(':')?;
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    if !is_name || !is_secret(name) || value.trim().is_empty() {
        return None;
    }
    let blanks = &value[..value.len() - value.trim_start().len()];
    let scheme = value.split_whitespace().next().filter(|first| is_scheme(first) && *first != value.trim());
    let scheme = scheme.map(|scheme| format!("{scheme} ")).unwrap_or_default();
    Some(format!("{name}:{blanks}{scheme}{HIDDEN}"))
}

/// The quotation mark that a word opens and does not close.
fn opened(word: &str) -> Option<char> {
    let quote = word.chars().find(|c| ['\'', '"'].contains(c))?;
    (word.matches(quote).count() % 2 == 1).then_some(quote)
}

/// The quotation mark that a value begins with and does not end with.
fn unclosed(value: &str) -> Option<char> {
    let quote = value.chars().next().filter(|c| ['\'', '"'].contains(c))?;
    (!value[1..].contains(quote)).then_some(quote)
}

fn is_scheme(word: &str) -> bool {
    SCHEMES.contains(&&*word.trim_matches(['\'', '"', '\\']).to_ascii_lowercase())
}

/// Hides secrets in the command of a probe, and all words of it that are not plain: whatever holds
/// other signs than paths, options and numbers do may hold a secret in a form that nobody thought
/// of, such as JSON, XML or a line for a shell.
/// Its words are those of a shell, in quotation marks or not; a line that is none is taken apart at
/// its blanks.
pub fn hide_in_command(command: &str) -> String {
    let command = &*without_keys(command);
    let words = shlex::split(command).unwrap_or_else(|| {
        command.split(BLANKS).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    });
    let hidden = hide(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let plain = hidden.iter().enumerate().map(hide_unless_plain);
    // What is plain and not empty needs no quotation marks.
    let shown = plain.map(|word| if word.is_empty() { "''".to_owned() } else { word });
    shown.collect::<Vec<_>>().join(" ")
}

/// Hides a word of the command of a probe that is not plain; of an option its value alone.
pub fn hide_unless_plain((index, word): (usize, impl AsRef<str>)) -> String {
    let word = word.as_ref();
    let longest = if index == 0 { usize::MAX } else { JUMBLE };
    if is_plain(&word.replace(HIDDEN, ""), longest) {
        return word.to_owned();
    }
    let option = word.split_once('=').map(|(name, _)| name);
    let option = option.filter(|name| name.starts_with('-') && is_plain(name, JUMBLE));
    option.map_or_else(|| HIDDEN.to_owned(), |name| format!("{name}={HIDDEN}"))
}

/// Letters and digits together, in one row, from which on they look like a token. The hashes in the
/// names of cached folders have 16.
const JUMBLE: usize = 20;

/// Whether a word has only signs of paths, options, numbers and versions, and no row of letters and
/// digits from `longest` on.
fn is_plain(word: &str, longest: usize) -> bool {
    let is_login = word.rsplit_once('@').is_some_and(|(before, _)| before.contains(':'));
    let is_sign = |c: char| c.is_alphanumeric() || "._-+/=:,~%@".contains(c);
    let is_token = |row: &str| {
        row.len() >= longest
            && row.contains(|c: char| c.is_ascii_digit())
            && row.contains(|c: char| c.is_alphabetic())
    };
    !is_login && word.chars().all(is_sign) && !word.split(|c: char| !c.is_alphanumeric()).any(is_token)
}

/// Hides secrets in a text.
pub fn hide_in(text: &str) -> String {
    let text = &*without_keys(text);
    let pieces: Vec<&str> = text.split_inclusive(char::is_whitespace).collect();
    let words: Vec<&str> = pieces.iter().map(|piece| piece.trim_end()).collect();
    let whole: String = hide(&words)
        .iter()
        .zip(&pieces)
        .zip(&words)
        .map(|((hidden, piece), word)| format!("{hidden}{}", &piece[word.len()..]))
        .collect();
    whole
}

/// Hides what stands between the first and the last line of private keys.
fn without_keys(text: &str) -> Cow<'_, str> {
    let (begin, private, end) = PEM;
    if !text.contains(begin) {
        return Cow::Borrowed(text);
    }
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(begin) {
        let Some(first) = rest[at..].find(private).map(|from| at + from + private.len()) else { break };
        let last = rest[first..].find(end).map_or(rest.len(), |from| first + from);
        out.push_str(&rest[..first]);
        out.push_str(HIDDEN);
        let behind = (last + end.len()).min(rest.len());
        out.push_str(&rest[last..behind]);
        rest = &rest[behind..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Which values that follow behind a word are secrets.
fn announced(word: &str) -> Option<Value> {
    let bare = word.trim_matches(['\'', '"']);
    if LOGINS.contains(&bare) {
        return Some(Value::Login);
    }
    if bare.starts_with('-') && !bare.contains('=') {
        return meant(bare);
    }
    // `Authorization:Bearer secret`
    let of_header = bare.split_once(':').filter(|(_, value)| value.is_empty() || is_scheme(value));
    let is_header = of_header.is_some_and(|(name, _)| is_secret(name));
    (is_header || bare.eq_ignore_ascii_case("bearer")).then_some(Value::Any)
}

fn hide_in_word(word: &str) -> String {
    let word = by_form(&in_login(&in_address(word)));
    // A password may follow its option without a space.
    if !ASSIGN.iter().any(|sign| word.contains(sign)) {
        return match word.strip_prefix("-p").and_then(|value| Value::Jumbled.hidden(value)) {
            Some(hidden) => format!("-p{hidden}"),
            None => word,
        };
    }
    // `NAME=value`, `"NAME":"value"`, and the parts of an address, of options and of JSON.
    let (mut out, mut name, mut at) = (String::with_capacity(word.len()), 0, 0);
    let (mut end, mut names) = (0, 0);
    while at < word.len() {
        let rest = &word[at..];
        if let Some(sign) = sign_at(rest, &ASSIGN) {
            let behind = at + sign;
            names += 1;
            if names > NAMES {
                out.push_str(HIDDEN);
                return out;
            }
            if behind > end {
                end = behind + part_len(&word[behind..]);
            }
            if let Some(hidden) = value_of(&word[name..at], &word[behind..end], rest) {
                out.push_str(&word[at..behind]);
                out.push_str(&hidden);
                at = end + swallowed(&word[name..at], name, &word[end..]);
                name = at;
            } else {
                out.push_str(&word[at..behind]);
                (at, name) = (behind, behind);
            }
        } else if let Some(sign) = sign_at(rest, &PARTS) {
            out.push_str(&rest[..sign]);
            at += sign;
            name = at;
        } else {
            let len = rest.chars().next().map_or(1, char::len_utf8);
            out.push_str(&rest[..len]);
            at += len;
        }
    }
    out
}

/// The length of the sign that a text begins with, in capitals or not.
fn sign_at(text: &str, signs: &[&str]) -> Option<usize> {
    let begins = |sign: &&&str| text.get(..sign.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(sign));
    signs.iter().find(begins).map(|sign| sign.len())
}

/// The length of a text up to the next part.
fn part_len(text: &str) -> usize {
    let is_end = |at: &usize| text.is_char_boundary(*at) && sign_at(&text[*at..], &PARTS).is_some();
    (0..text.len()).find(is_end).unwrap_or(text.len())
}

/// How much behind a secret belongs to it: parts that have no name. Behind an option or a variable
/// at the beginning of a word all does.
fn swallowed(name: &str, from: usize, behind: &str) -> usize {
    let is_variable = name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    if from == 0 && (name.starts_with('-') || is_variable) {
        return behind.len();
    }
    let mut len = 0;
    while let Some(sign) = sign_at(&behind[len..], &PARTS) {
        let part = part_len(&behind[len + sign..]);
        let text = &behind[len + sign..len + sign + part];
        if ASSIGN.iter().any(|sign| text.contains(sign)) {
            break;
        }
        len += sign + part;
    }
    len
}

/// Hides a value behind the name of a secret. Of a name that is a path its last part counts.
fn value_of(name: &str, value: &str, sign_and_rest: &str) -> Option<String> {
    let login = LOGINS.contains(&name).then_some(Value::Login);
    let is = login.or_else(|| meant(name.rsplit('/').next().unwrap_or(name)))?;
    let is_address = sign_and_rest.starts_with("://");
    if value.is_empty() || is_address { None } else { is.hidden(value) }
}

/// Hides the password in `user:password@host`, where it looks like one: `image:tag@sha256:5` has
/// none.
fn in_login(word: &str) -> String {
    let of = || {
        let (before, host) = word.rsplit_once('@').filter(|_| !word.contains("://"))?;
        let (user, password) = before.split_once(':')?;
        let is_name = !user.is_empty() && user.chars().all(|c| c.is_alphanumeric() || "._-".contains(c));
        let is_host = host.starts_with(char::is_alphanumeric) && !host.starts_with("sha256:");
        let hidden = Value::Mixed.hidden(password).filter(|_| is_name && is_host)?;
        Some(format!("{user}:{hidden}@{host}"))
    };
    of().unwrap_or_else(|| word.to_owned())
}

/// Hides who logs in in `https://user:password@host/`.
fn in_address(word: &str) -> String {
    let Some((before, behind)) = word.split_once("://") else { return in_encoded_address(word) };
    let hook = HOOKS.iter().find_map(|hook| Some(behind.find(hook)? + hook.len()));
    if let Some(end) = hook {
        return format!("{before}://{}{HIDDEN}", &behind[..end]);
    }
    let host_end = behind.find(['/', '?', '#']).unwrap_or(behind.len());
    // What stands behind a colon and is no port is a password, and may have a slash in it.
    let is_password = |(_, port): (&str, &str)| !port.bytes().all(|byte| byte.is_ascii_digit());
    let end = match behind[..host_end].split_once(':').is_some_and(is_password) {
        true => behind.len(),
        false => host_end,
    };
    match behind[..end].rfind('@') {
        Some(at) => format!("{before}://{HIDDEN}{}", &behind[at..]),
        None => word.to_owned(),
    }
}

/// The same for an address that is a part of another: `https%3A%2F%2Fuser%3Apassword%40host`.
fn in_encoded_address(word: &str) -> String {
    let capitals = word.to_ascii_uppercase();
    let begin = "%3A%2F%2F";
    let found = capitals.find(begin).and_then(|at| {
        let from = at + begin.len();
        let end = capitals[from..].find("%2F").map_or(word.len(), |len| from + len);
        Some((from, from + capitals[from..end].rfind("%40")?))
    });
    match found {
        Some((from, at)) => format!("{}{HIDDEN}{}", &word[..from], &word[at..]),
        None => word.to_owned(),
    }
}

/// Hides tokens that are known by how they begin.
fn by_form(word: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let mut out = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(next) = rest.chars().next() {
        let len = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        if len == 0 {
            // `%3D` is one sign, and its digits are no part of what follows.
            let is_digit = |byte: &u8| byte.is_ascii_hexdigit();
            let is_encoded =
                next == '%' && matches!(rest.as_bytes(), [_, a, b, ..] if is_digit(a) && is_digit(b));
            let len = if is_encoded { 3 } else { next.len_utf8() };
            out.push_str(&rest[..len]);
            rest = &rest[len..];
            continue;
        }
        let is_token = FORMS.iter().any(|(begin, least)| rest.starts_with(begin) && len >= *least);
        out.push_str(if is_token { HIDDEN } else { &rest[..len] });
        rest = &rest[len..];
    }
    out
}

/// Which values of a name are secrets.
fn meant(name: &str) -> Option<Value> {
    // curl takes a header behind its option without a space.
    let name = name.strip_prefix("-H").unwrap_or(name);
    if is_secret(name) {
        return Some(Value::Any);
    }
    let parts = parts(name);
    let last = parts.last()?;
    // `p` is an option, and no part of a name.
    let is = |word: &str| last == word && (word != "p" || name == "-p");
    DOUBTFUL.iter().find(|(word, _)| is(word)).map(|(_, value)| *value)
}

/// Whether a name is that of a secret: one of its parts is.
fn is_secret(name: &str) -> bool {
    let parts = parts(name);
    let ends = |part: &String| ENDINGS.iter().any(|ending| part.ends_with(ending));
    let pair = |pair: &[String]| KEYS.contains(&&*pair[0]) && pair[1] == "key";
    let apart = |pair: &[String]| pair[0] == "pass" && APART.contains(&&*pair[1]);
    let Some(last) = parts.last().filter(|last| !ABOUT.contains(&&***last)) else { return false };
    let pass = parts.len() > 1 && last == "pass";
    parts.windows(2).any(apart)
        || parts.iter().any(|part| SECRETS.contains(&&**part) || ends(part))
        || parts.windows(2).any(pair)
        || pass
}

/// The words that a name is made of: `githubToken`, `GITHUB_TOKEN` and `--github-token` have two.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_lower) {
            parts.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(part) = parts.last_mut()
        {
            part.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests;
