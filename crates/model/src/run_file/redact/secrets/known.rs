//! The names, the places and the forms by which secrets are known.

use super::Value;

/// Words that name a secret, alone or as a part of a name: `GITHUB_TOKEN`, `--db-password`.
pub(super) const SECRETS: [&str; 30] = [
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
    "otp",
    "totp",
    "passcode",
    "passkey",
    "sessionid",
    "jsessionid",
    "phpsessid",
    "sshpass",
    "storepass",
    "keypass",
    "dbpass",
    "userpass",
    "rootpass",
];
/// Words that are one word of [`SECRETS`] where they are written apart: `--pass-phrase`.
pub(super) const APART: [&str; 3] = ["phrase", "word", "code"];
/// What a name is of that ends so: where a secret lies or how long it is, and no secret.
pub(super) const ABOUT: [&str; 10] =
    ["file", "files", "path", "dir", "folder", "type", "count", "length", "size", "limit"];
/// Words that name one together with `key` behind them: `API_KEY`.
pub(super) const KEYS: [&str; 18] = [
    "api",
    "access",
    "private",
    "secret",
    "signing",
    "encryption",
    "account",
    "master",
    "deploy",
    "license",
    "app",
    "client",
    "shared",
    "service",
    "subscription",
    "storage",
    "hmac",
    "webhook",
];
/// Words that end one that is written together: `PGPASSWORD`.
pub(super) const ENDINGS: [&str; 9] =
    ["password", "passwd", "passphrase", "apikey", "secretkey", "token", "secret", "storepass", "keypass"];
/// Names that mean a secret where the value looks like one, and something else where it does not:
/// `cargo run -p probe`, `sort --key 2`, `--pass 3`.
pub(super) const DOUBTFUL: [(&str, Value); 9] = [
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
pub(super) const LOGINS: [&str; 4] = ["-u", "--user", "--proxy-user", "--login"];
/// Options that mean a secret to one program and something else to others, with whether it may
/// stand in a word of its own: `mysql -p db` asks for the password.
pub(super) const OWN: [(&[&str], &str, Value, bool); 8] = [
    (&["sshpass", "login", "mongosh", "mongo", "mongodump", "mongorestore"], "-p", Value::Given, true),
    (&["mysql", "mysqldump", "mysqladmin", "mariadb", "mariadb-dump"], "-p", Value::Given, false),
    (&["redis-cli"], "-a", Value::Given, true),
    (&["ldapsearch", "ldapadd", "ldapmodify", "ldapwhoami"], "-w", Value::Given, true),
    (&["sqlcmd", "bcp", "zip", "unzip"], "-P", Value::Given, true),
    (&["curl"], "-u", Value::Login, true),
    (&["curl", "smbclient"], "-U", Value::Login, true),
    (&["curl"], "--cert", Value::Login, true),
];
/// Words before a name whose value follows as a word of its own.
pub(super) const SETS: [&str; 5] = ["set", "setenv", "-x", "-gx", "-Ux"];
/// Options of this tool that take a command.
pub(super) const COMMANDS: [&str; 2] = ["--probe", "--against"];
/// What stands between a name and its value, and between two of them: plain, and in an address that
/// is a part of another.
pub(super) const ASSIGN: [&str; 4] = ["=", ":", "%3D", "%3A"];
pub(super) const PARTS: [&str; 13] =
    ["?", "&", ";", ",", "#", "{", "[", "(", "%26", "%3F", "%2C", "%23", "%3B"];
/// Addresses whose path is a secret.
pub(super) const HOOKS: [&str; 3] =
    ["hooks.slack.com/services/", "discord.com/api/webhooks/", "webhook.office.com/webhookb2/"];
/// The most words of a value in quotation marks.
pub(super) const QUOTED: usize = 20;
/// How many bytes of a value tell what it looks like.
pub(super) const LOOKED_AT: usize = 1_000;
/// The most names in one word. What stands behind more is hidden unseen: each may need a look at
/// all that follows it, and a word of a hostile file has up to a million signs.
pub(super) const NAMES: usize = 2_000;
/// Words between the name of a header and its secret.
pub(super) const SCHEMES: [&str; 7] = ["bearer", "basic", "token", "digest", "apikey", "key", "negotiate"];

/// How tokens of well-known services begin, each with the fewest characters of a whole one.
pub(super) const FORMS: [(&str, usize); 48] = [
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
    ("glsa_", 30),
    ("gldt-", 20),
    ("glrt-", 20),
    ("hvs.", 24),
    ("ya29.", 20),
    ("GOCSPX-", 20),
    ("nfp_", 20),
    ("sq0csp-", 20),
    ("sq0atp-", 20),
    ("dapi", 32),
    ("key-", 32),
    ("dop_v1_", 40),
    ("shpat_", 30),
    ("dckr_pat_", 24),
    ("rk_live_", 20),
    ("sk_test_", 20),
    ("whsec_", 24),
    ("xapp-", 20),
    ("xoxa-", 20),
    ("xoxr-", 20),
    ("gsk_", 30),
    ("nvapi-", 30),
    ("pplx-", 30),
    ("ATATT3x", 40),
    ("PMAK-", 40),
    ("lin_api_", 30),
    ("rubygems_", 40),
    ("cio", 35),
];
/// A key in the form of PEM, from its first line to its last.
pub(super) const PEM: (&str, &str, &str) = ("-----BEGIN ", "PRIVATE KEY-----", "-----END ");
