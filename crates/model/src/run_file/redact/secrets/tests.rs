//! Forms in which people write secrets, and words that are none.

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
    assert_eq!(hide(&header), ["p", "-H", "Authorization:Bearer ***", "x"]);
}

/// Each line holds a secret in a form that people use, `hunter2x` in place of what is told by
/// its name or its place. As words of an array it is the same, where no word has blanks.
#[test]
fn no_form_that_people_use_tells_a_secret() {
    let forms = [
        "p --token S",
        "p --token=S",
        "p -token S",
        "p --token:S",
        "p --auth-token 'S'",
        "p --token \"S\"",
        "p --token = S",
        "password = S",
        "token : S",
        "p --api_key=S --quiet",
        "p --apikey S",
        "p --pass-phrase S",
        "p --pass-word=S",
        "p --passcode S",
        "TOKEN=S p",
        "export X_SECRET=S",
        "set TOKEN=S",
        "setenv TOKEN S",
        "set -x TOKEN S",
        "set -gx API_KEY S",
        "$env:TOKEN=\"S\"",
        "env GITHUBTOKEN=S p",
        "CLIENTSECRET=S p",
        "AWS_SECRET_ACCESS_KEY=S p",
        "AWS_SESSION_TOKEN=S",
        "SSHPASS=S sshpass -e ssh h",
        "DBPASS=S p",
        "MYSQL_PWD=S",
        "PGPASSWORD='S' psql",
        "SECRET_KEY_BASE=S",
        "MASTER_KEY=S",
        "p --env=TOKEN=S",
        "p --env TOKEN=S",
        "p -eTOKEN=S",
        "docker build --build-arg=NPM_TOKEN=S .",
        "helm --set auth.password=S",
        "helm --set=auth.password=S,replicas=2",
        "kubectl create secret generic x --from-literal=password=S",
        "java -Dpassword=S",
        "java -Djavax.net.ssl.keyStorePassword=S",
        "keytool -storepass S -keypass S",
        "openssl rsa -passin pass:S",
        "gpg --passphrase S",
        "p -passwd S",
        "curl -H 'Authorization: Bearer S'",
        "curl -H Authorization:S",
        "curl -HAuthorization:S",
        "curl -H'Authorization: token S'",
        "curl -H 'Authorization: Basic S'",
        "curl -H 'Authorization: ApiKey S'",
        "curl --header=X-Api-Key:S",
        "curl --header 'X-Api-Key: S'",
        "curl --header='X-Api-Key: S'",
        "curl -H \"PRIVATE-TOKEN: S\"",
        "curl -H 'Cookie: a=1; sid=S; b=2'",
        "curl -H 'Authorization: Digest username=bob, response=S'",
        "curl --cookie session=S",
        "curl -b sessionid=S",
        "curl -u bob:S h",
        "curl -ubob:S h",
        "curl --user bob:S h",
        "curl --user=bob:S",
        "curl -U bob:S h",
        "curl --proxy-user bob:S",
        "curl 'https://bob:S@h/x'",
        "curl --proxy=http://bob:S@h:3128",
        "curl bob:S@h/x",
        "p a=https://u:S@h,b=https://v:S@i",
        "git clone https://S@github.com/x",
        "DATABASE_URL=postgres://u:S@h/db",
        "redis://:S@h:6379",
        "mongodb+srv://u:S@h/x",
        "jdbc:postgresql://h/db?user=u&password=S",
        "Server=h;User=u;Password=S;",
        "host=h user=u password=S",
        "https://h/x?a=1&access_token=S#f",
        "https://h/x#access_token=S",
        "https://h/x?token%3DS",
        "https%3A%2F%2Fh%2F%3Fapi_key%3DS%26n%3D1",
        "https%3A%2F%2Fbob%3AS%40h",
        "p {\"password\":\"S\"}",
        "p '{\"password\": \"S\"}'",
        "p '{\"user\":\"bob\",\"password\":\"S\"}'",
        "p '{\"user\": \"bob\", \"token\": \"S\", \"n\": 5}'",
        "p {\\\"a\\\":1,\\\"secret\\\":\\\"S\\\"}",
        "p {'a':{'api_key':'S'}}",
        "p -o user=bob,password=S,ro",
        "mount -o username=bob,password=S",
        "p --password=a,S",
        "p PASSWORD=a&S",
        "p --password='a;S'",
        "mysql -uroot -pS db",
        "mysqldump -u root -pS db",
        "sshpass -p S ssh h",
        "sshpass -pS ssh h",
        "docker login -u bob -p S",
        "mongosh -u bob -p S",
        "redis-cli -h h -a S",
        "ldapsearch -x -w S",
        "sqlcmd -U sa -P S",
        "smbclient -U bob%S //h/x",
        "curl --cert a.pem:S https://h",
        "aws configure set aws_secret_access_key S",
        "npm config set //r/:_authToken=S",
        "npm config set _authToken S",
        "p --otp S",
        "p --client-secret-value S",
        "p -Xtoken=S",
        "p /p:Password=S",
        "p --password\nS",
    ];
    let leaks: Vec<String> = forms
        .iter()
        .map(|form| with(form, "hunter2x"))
        .filter(|line| {
            hide_in(line).contains("hunter2x")
                || hide(&line.split_whitespace().collect::<Vec<_>>()).concat().contains("hunter2x")
        })
        .collect();
    assert!(leaks.is_empty(), "{} of {} leak:\n{}", leaks.len(), forms.len(), leaks.join("\n"));
}

#[test]
fn tokens_of_services_are_hidden_anywhere() {
    let token = |begin: &str| format!("{begin}{}", "a1B2".repeat(15));
    for (begin, _) in FORMS {
        let token = token(begin);
        for line in
            [token.clone(), format!("p/{token}/x"), format!("q='{token}'"), format!("a%3D{token}%26b")]
        {
            assert!(!hide_in(&line).contains(&token[token.len() - 20..]), "{line}");
        }
    }
    let key = "x -----BEGIN RSA PRIVATE KEY-----\nS3cr3t\nV4lue\n-----END RSA PRIVATE KEY-----\ny";
    let hidden = "x -----BEGIN RSA PRIVATE KEY-----***-----END RSA PRIVATE KEY-----\ny";
    assert_eq!(hide_in(key), hidden);
    assert_eq!(hide(&[key]), [hidden.replace('\n', " ").trim_end()]);
}

/// A line of a file has up to a million characters, and each may be a sign.
#[test]
fn behind_many_names_all_is_hidden_unseen() {
    let hidden = hide_in(&"key=".repeat(NAMES + 9));
    assert!(hidden.starts_with("key=key=") && hidden.ends_with(HIDDEN) && hidden.len() < 4 * NAMES + 9);
    for part in ["=", "token=&", ":@", "%3A", "curl ", "{\"a\":1,", "'", "\u{fc}="] {
        assert!(hide_in(&part.repeat(20_000)).len() <= 400_000, "{part}");
    }
}

/// The form with a secret wherever an `S` stands alone.
fn with(form: &str, secret: &str) -> String {
    let letters: Vec<char> = form.chars().collect();
    let is_alone = |at: usize| {
        let is_letter =
            |at: usize| letters.get(at).is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_uppercase());
        let glued = |front: &str| letters[..at].iter().collect::<String>().ends_with(front);
        letters[at] == 'S'
            && !is_letter(at + 1)
            && letters.get(at + 1) != Some(&'_')
            && (at == 0 || !is_letter(at - 1) || glued(" -p") || glued("%3D") || glued("%3A"))
    };
    (0..letters.len())
        .map(|at| if is_alone(at) { secret.to_owned() } else { letters[at].to_string() })
        .collect()
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
        "p --password-file /run/secrets/pw --token-file=./t --key-file=a --private-key-path /k TOKEN_FILE=/x",
        "p --token-count 5 --tokens 5 --tokenizer bert --auth-type=basic --secret-size 64 --max-token-length=9",
        "docker run -v /run/secrets/db:/db -e LEVEL=3 ghcr.io/a/b:v1.2.3@sha256:0123456789abcdef",
        "asyncio@python3.13:await_each taskscale run fanout --runtime go@/opt/go1.22/bin/go --param a=1,b=2",
        "sshpass -e ssh -p 22 h; grep -E a:b x; ssh -p 2222 bob@h; unzip -P 12 x",
        "mysql -u root -p db",
        "ASCII {a:1,b:[2,3]} http://[::1]:80/?q=%3D%26 50% 100%3 10:20:30 f(x)=3 set name value",
        "/usr/lib/python3.13/site-packages/auth/x.py:12: error: cannot open token",
        "  spaces   stay \n",
        "",
    ] {
        assert_eq!(hide_in(line), line);
    }
}

#[test]
fn of_a_probes_command_only_plain_words_are_told() {
    for (command, told) in [
        ("python3 a.py --size=64 -O2 x,y:z", "python3 a.py --size=64 -O2 x,y:z"),
        ("go@/opt/go", "go@/opt/go"),
        ("npx tsx@4.1.0 ./a.ts", "npx tsx@4.1.0 ./a.ts"),
        (r#"p --config={"a":{"x": "S3k"}}"#, "p --config=*** ***"),
        (r#"p {"x":["S3k"]} <x>S3k</x> "\u0053"#, "p *** *** ***"),
        ("p //bob:S3k@host $(cat x) `x`", "p *** *** *** ***"),
        ("p 1//0gAbCdEfGh0123456789xyz", "p ***"),
        (
            "p ~/.cache/taskscale/probes/go-0123456789abcdef/out",
            "p ~/.cache/taskscale/probes/go-0123456789abcdef/out",
        ),
        ("p --token -S3kret9Value --fast", "p --token *** --fast"),
        ("p --token --fast", "p --token --fast"),
        ("p 'x S3kret9 y' -c 'login S3kret9 && true' \"a b\"", "p *** -c *** ***"),
        ("p a\rS3kret9 S3kret9\u{a0}x a\u{2028}S3kret9 a b'", "p *** *** *** a ***"),
        ("p jane@corp.com:S3kret9@host --url=a@b:S3kret9@c", "p *** --url=***"),
        ("p --token '' S3kret9 --pass \"\" S3kret9", "p --token '' *** --pass '' ***"),
        ("p -srcstorepass S3kret9 -keypass S3kret9", "p -srcstorepass *** -keypass ***"),
    ] {
        assert_eq!(hide_in_command(command), told);
        // A redacted file may be redacted again.
        assert_eq!(hide_in_command(told), told);
    }
}

#[test]
fn of_any_command_only_plain_signs_are_told() {
    let signs = [
        " ", "\t", "\n", "\r", "\u{2028}", "'", "\"", "\\", "#", "a", "-c ", "--token ", "=", "***", ":", "@",
    ];
    let mut state = 1_u64;
    for length in (0..20_000).map(|n| n % 24) {
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            signs[(state >> 59) as usize % signs.len()]
        };
        let command: String = (0..length).map(|_| next()).collect();
        let hidden = hide_in_command(&command);
        assert!(hidden.chars().all(|c| c == '\'' || " *a-cotken=:@".contains(c)), "{command:?}: {hidden:?}");
    }
}
