//! Finds secrets in the words of a command line: by the name of their option or variable, by their
//! place in an address, or by their form.

use super::HIDDEN;

/// Words that name a secret, alone or as a part of a name: `GITHUB_TOKEN`, `--db-password`.
const SECRETS: [&str; 17] = [
    "token",
    "secret",
    "secrets",
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "apikey",
    "accesskey",
    "privatekey",
    "secretkey",
    "credential",
    "credentials",
    "auth",
    "authorization",
    "bearer",
    "cookie",
];
/// Words that name one together with `key` behind them: `API_KEY`.
const KEYS: [&str; 7] = ["api", "access", "private", "secret", "signing", "encryption", "account"];
/// Words between the name of a header and its secret.
const SCHEMES: [&str; 3] = ["bearer", "basic", "token"];

/// How tokens of well-known services begin, each with the fewest characters of a whole one.
const FORMS: [(&str, usize); 18] = [
    ("ghp_", 30),
    ("gho_", 30),
    ("ghs_", 30),
    ("ghu_", 30),
    ("ghr_", 30),
    ("github_pat_", 30),
    ("glpat-", 20),
    ("sk-", 24),
    ("sk_live_", 20),
    ("xoxb-", 20),
    ("xoxp-", 20),
    ("xoxs-", 20),
    ("AKIA", 20),
    ("ASIA", 20),
    ("hf_", 24),
    ("npm_", 30),
    ("pypi-", 40),
    ("eyJ", 40),
];

/// Hides secrets among the words of a command line.
pub fn hide(words: &[&str]) -> Vec<String> {
    let mut is_next = false;
    let mut hidden = Vec::with_capacity(words.len());
    for word in words {
        // An argument that holds a whole line, as of `sh -c`, is looked at word by word.
        if !is_next && word.contains(char::is_whitespace) {
            hidden.push(hide_in(word));
            continue;
        }
        let scheme = is_next && SCHEMES.contains(&&*word.to_ascii_lowercase());
        let is_value = is_next && !word.starts_with('-') && !scheme;
        hidden.push(if is_value { HIDDEN.to_owned() } else { hide_in_word(word) });
        is_next = scheme || (!is_value && announces(word));
    }
    hidden
}

/// Hides secrets in a text.
pub fn hide_in(text: &str) -> String {
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

/// Whether a secret follows behind a word.
fn announces(word: &str) -> bool {
    let bare = word.trim_matches(['\'', '"']);
    let option = bare.starts_with('-') && !bare.contains('=') && is_secret(bare);
    let header = bare.strip_suffix(':').is_some_and(is_secret);
    option || header || bare.eq_ignore_ascii_case("bearer")
}

fn hide_in_word(word: &str) -> String {
    let word = by_form(&in_address(word));
    // `NAME=value`, and the parts of an address behind a question mark.
    let mut out = String::with_capacity(word.len());
    let mut rest = word.as_str();
    loop {
        let end = rest.find(['?', '&', ';']).unwrap_or(rest.len());
        out.push_str(&assigned(&rest[..end]));
        let Some(separator) = rest[end..].chars().next() else { return out };
        out.push(separator);
        rest = &rest[end + 1..];
    }
}

/// Hides the value of `NAME=value` or of `"NAME":"value"`.
fn assigned(part: &str) -> String {
    let Some(at) = part.find(['=', ':']) else { return part.to_owned() };
    let (name, value) = (&part[..at], &part[at + 1..]);
    let is_path = value.starts_with("//");
    match is_secret(name) && !value.is_empty() && !is_path {
        true => format!("{name}{}{HIDDEN}", &part[at..=at]),
        false => part.to_owned(),
    }
}

/// Hides who logs in in `https://user:password@host/`.
fn in_address(word: &str) -> String {
    let Some((before, behind)) = word.split_once("://") else { return word.to_owned() };
    let host_end = behind.find(['/', '?', '#']).unwrap_or(behind.len());
    match behind[..host_end].rfind('@') {
        Some(at) => format!("{before}://{HIDDEN}{}", &behind[at..]),
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
            out.push(next);
            rest = &rest[next.len_utf8()..];
            continue;
        }
        let is_token = FORMS.iter().any(|(begin, least)| rest.starts_with(begin) && len >= *least);
        out.push_str(if is_token { HIDDEN } else { &rest[..len] });
        rest = &rest[len..];
    }
    out
}

/// Whether a name is that of a secret: one of its parts is.
fn is_secret(name: &str) -> bool {
    let parts = parts(name);
    let pair = |pair: &[String]| KEYS.contains(&&*pair[0]) && pair[1] == "key";
    let pass = parts.len() > 1 && parts.last().is_some_and(|last| last == "pass");
    parts.iter().any(|part| SECRETS.contains(&&**part)) || parts.windows(2).any(pair) || pass
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
mod tests {
    use super::*;

    #[test]
    fn secrets_are_found_by_name_place_and_form() {
        let token = format!("ghp_{}", "a".repeat(36));
        for (line, expected) in [
            ("run --token abc go", "run --token *** go"),
            ("run --api-key=abc", "run --api-key=***"),
            ("GITHUB_TOKEN=abc DB_PASS=x env", "GITHUB_TOKEN=*** DB_PASS=*** env"),
            ("curl -H 'Authorization: Bearer abc' x", "curl -H 'Authorization: Bearer *** x"),
            ("awsSecretAccessKey=abc", "awsSecretAccessKey=***"),
            ("https://me:pw@host/x?access_token=abc&n=1", "https://***@host/x?access_token=***&n=1"),
            (&*format!("x {token} y"), "x *** y"),
            (&*format!("x={token}"), "x=***"),
            ("--password --quiet", "--password --quiet"),
            ("a\n\ttoken: abc\n", "a\n\ttoken: ***\n"),
        ] {
            assert_eq!(hide_in(line), expected);
        }
        assert_eq!(hide(&["sh", "-c", "x --token abc"]), ["sh", "-c", "x --token ***"]);
        assert_eq!(hide(&["p", "--password", "two words"]), ["p", "--password", "***"]);
    }

    #[test]
    fn what_is_no_secret_stays() {
        for line in [
            "run fanout --runtime tokio --param tokens=512 --seed 7",
            "--key x --pass 3 monkey=1 author=me",
            "https://host/a@b?x=1",
            "sk-short ghp_no C:\\x a:b",
            "  spaces   stay \n",
            "",
        ] {
            assert_eq!(hide_in(line), line);
        }
    }
}
