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
/// Words that end one that is written together: `PGPASSWORD`.
const ENDINGS: [&str; 5] = ["password", "passwd", "passphrase", "apikey", "secretkey"];
/// Names that mean a secret where the value looks like one, and something else where it does not:
/// `cargo run -p probe`, `sort --key 2`, `--pass 3`.
const DOUBTFUL: [(&str, Value); 9] = [
    ("pass", Value::Word),
    ("pw", Value::Word),
    ("pat", Value::Word),
    ("cred", Value::Word),
    ("creds", Value::Word),
    ("sig", Value::Mixed),
    ("signature", Value::Mixed),
    ("key", Value::Mixed),
    ("p", Value::Jumbled),
];
/// Options behind which a name and a password stand: `-u bob:secret`.
const LOGINS: [&str; 4] = ["-u", "--user", "--proxy-user", "--login"];
/// Addresses whose path is a secret.
const HOOKS: [&str; 3] =
    ["hooks.slack.com/services/", "discord.com/api/webhooks/", "webhook.office.com/webhookb2/"];
/// The most words of a value in quotation marks.
const QUOTED: usize = 20;
/// Words between the name of a header and its secret.
const SCHEMES: [&str; 3] = ["bearer", "basic", "token"];

/// How tokens of well-known services begin, each with the fewest characters of a whole one.
const FORMS: [(&str, usize); 20] = [
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
    ("pypi-", 30),
    ("AIza", 30),
    ("SG.", 40),
    ("eyJ", 40),
];

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
    /// What stands behind a colon.
    Login,
}

impl Value {
    /// Hides a value, where it is one.
    fn hidden(self, value: &str) -> Option<String> {
        let bare = value.trim_matches(['\'', '"', '\\']);
        let has = |is: fn(&char) -> bool| bare.chars().any(|c| is(&c));
        let is_word = || {
            let is_switch = ["true", "false", "none"].contains(&&*bare.to_ascii_lowercase());
            let is_path = bare.contains('/') || bare.starts_with(['.', '~']);
            bare.len() >= 4 && has(|c| c.is_alphabetic()) && !is_switch && !is_path
        };
        let is_mixed = || bare.len() >= 8 && is_word() && has(char::is_ascii_digit);
        let is = match self {
            Value::Any => true,
            Value::Word => is_word(),
            Value::Mixed => is_mixed(),
            Value::Jumbled => is_mixed() && has(char::is_ascii_uppercase) && has(char::is_ascii_lowercase),
            Value::Login => {
                let (user, password) = value.split_once(':')?;
                let is_number = password.bytes().all(|byte| byte.is_ascii_digit());
                return (!is_number && !password.starts_with('/')).then(|| format!("{user}:{HIDDEN}"));
            }
        };
        is.then(|| HIDDEN.to_owned())
    }
}

/// Hides secrets among the words of a command line.
pub fn hide(words: &[&str]) -> Vec<String> {
    let mut next: Option<Value> = None;
    // What a value ends with that is in quotation marks, and how many of its words may follow.
    let mut open: Option<(char, usize)> = None;
    let mut hidden = Vec::with_capacity(words.len());
    for &word in words {
        if let Some((quote, left)) = open {
            open = (!word.contains(quote) && left > 1).then_some((quote, left - 1));
            hidden.push(HIDDEN.to_owned());
            continue;
        }
        // An argument that holds a whole line, as of `sh -c`, is looked at word by word.
        if next.is_none() && word.contains(char::is_whitespace) {
            hidden.push(hide_in(word));
            continue;
        }
        // `--password = secret`
        if next.is_some() && (word == "=" || word.is_empty()) {
            hidden.push(word.to_owned());
            continue;
        }
        let is_scheme = next.is_some() && is_scheme(word);
        let value = next.filter(|_| !word.starts_with('-') && !is_scheme).and_then(|is| is.hidden(word));
        let is_value = value.is_some();
        let out = value.unwrap_or_else(|| hide_in_word(word));
        let told = if is_value { word } else { word.split_once(['=', ':']).map_or("", |(_, value)| value) };
        if out.contains(HIDDEN) {
            open = unclosed(told).map(|quote| (quote, QUOTED));
        }
        let goes_on = out.contains(HIDDEN) && word.ends_with('\\');
        next = match () {
            () if is_scheme || goes_on => Some(Value::Any),
            () if is_value => None,
            () => announced(word),
        };
        hidden.push(out);
    }
    hidden
}

/// The quotation mark that a value begins with and does not end with.
fn unclosed(value: &str) -> Option<char> {
    let quote = value.chars().next().filter(|c| ['\'', '"'].contains(c))?;
    (!value[1..].contains(quote)).then_some(quote)
}

fn is_scheme(word: &str) -> bool {
    SCHEMES.contains(&&*word.trim_matches(['\'', '"', '\\']).to_ascii_lowercase())
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
    let Some(at) = part.find(['=', ':']) else {
        // A password may follow its option without a space.
        return match part.strip_prefix("-p").and_then(|value| Value::Jumbled.hidden(value)) {
            Some(hidden) => format!("-p{hidden}"),
            None => part.to_owned(),
        };
    };
    let (name, value) = (&part[..at], &part[at + 1..]);
    let is_path = value.starts_with("//");
    let login = LOGINS.contains(&name).then_some(Value::Login);
    let is = login.or_else(|| meant(name)).filter(|_| !value.is_empty() && !is_path);
    match is.and_then(|is| is.hidden(value)) {
        Some(hidden) => format!("{name}{}{hidden}", &part[at..=at]),
        None => part.to_owned(),
    }
}

/// Hides who logs in in `https://user:password@host/`.
fn in_address(word: &str) -> String {
    let Some((before, behind)) = word.split_once("://") else { return word.to_owned() };
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

/// Which values of a name are secrets.
fn meant(name: &str) -> Option<Value> {
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
    let pass = parts.len() > 1 && parts.last().is_some_and(|last| last == "pass");
    parts.iter().any(|part| SECRETS.contains(&&**part) || ends(part)) || parts.windows(2).any(pair) || pass
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
    fn each_form_of_a_secret_is_hidden() {
        let webhook = "https://hooks.slack.com/services/T00000000/B00000000/S3cr3tV4lue9";
        let google = format!("AIzaSyA{}", "1234567890abcdefghijklmnopqrstuvw");
        let sendgrid = format!("SG.{}.{}", "a".repeat(22), "B".repeat(43));
        for (line, expected) in [
            ("env PGPASSWORD=S3cr3tV4lue9 p", "env PGPASSWORD=*** p"),
            ("p -H Authorization:Bearer\\ S3cr3tV4lue9 x", "p -H Authorization:*** *** x"),
            ("p -H 'Authorization:Bearer S3cr3tV4lue9' x", "p -H 'Authorization:*** *** x"),
            ("p --password = S3cr3tV4lue9 x", "p --password = *** x"),
            ("p -p S3cr3tV4lue9 x", "p -p *** x"),
            ("p -pS3cr3tV4lue9 x", "p -p*** x"),
            ("p --pass S3cr3tV4lue9 x", "p --pass *** x"),
            ("p --pass=hunter x", "p --pass=*** x"),
            ("PASS=hunter p", "PASS=*** p"),
            ("p --pw hunter --pat hunter --creds hunter", "p --pw *** --pat *** --creds ***"),
            ("p -u bob:S3cr3tV4lue9 x", "p -u bob:*** x"),
            ("p --user=bob:S3cr3tV4lue9 x", "p --user=bob:*** x"),
            ("p --key S3cr3tV4lue9 x", "p --key *** x"),
            ("p https://h/x?sig=S3cr3tV4lue9&sv=2020", "p https://h/x?sig=***&sv=2020"),
            ("p https://h/x?X-Amz-Signature=S3cr3tV4lue9", "p https://h/x?X-Amz-Signature=***"),
            ("p https://h/x?key=S3cr3tV4lue9", "p https://h/x?key=***"),
            (&*format!("p {google} x"), "p *** x"),
            (&*format!("p {sendgrid} x"), "p *** x"),
            (&*format!("p {webhook}"), "p https://hooks.slack.com/services/***"),
            ("p pypi-AgEIcHlwaS5vcmcCJDEyMzQ1Njc4", "p ***"),
            ("p https://bob:S3cr3t/x@host/db", "p https://***@host/db"),
            ("p --password='two words' x", "p --password=*** *** x"),
            ("p --password 'two words' x", "p --password *** *** x"),
        ] {
            assert_eq!(hide_in(line), expected);
        }
        let header = ["p", "-H", "Authorization:Bearer S3cr3tV4lue9", "x"];
        assert_eq!(hide(&header), ["p", "-H", "Authorization:*** ***", "x"]);
    }

    #[test]
    fn what_is_no_secret_stays() {
        for line in [
            "cargo run -p taskscale-probe2 -- -p 8080 -pthread -p8080",
            "docker run -p 8080:80 -u 1000:1000 image",
            "sort --key 2 --key user_name --keys S3cr3tV4lue9 --pass true",
            "p --key /etc/tls/Key9.pem --pass ./File1 key=value pass=12 sig=9",
            "http://host:8080/a@b https://host/x?signature=v4 --pattern S3cr3tV4lue9",
            "make -u bob compass=north path=/usr/lib2/Key",
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
