//! What keeps a page to itself: the policy that its browser holds it to, and data that cannot end
//! the element around it.

use serde::Serialize;
use sha2::{Digest, Sha256};

/// The content security policy of a page: no network at all, one script and one style, each by its
/// hash.
pub fn policy(script: &str, style: &str) -> String {
    format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'",
        hash(script),
        hash(style)
    )
}

/// The hash of an element's text as a policy has it.
fn hash(text: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(text.as_bytes())))
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for block in bytes.chunks(3) {
        let at = |index: usize| u32::from(block.get(index).copied().unwrap_or_default());
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for index in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * index) & 63) as usize];
            text.push(if index <= block.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

/// Data as JSON on one line that may stand inside a script element: without `<` and `&`, and in
/// ASCII alone.
pub fn data(data: &impl Serialize) -> String {
    // Writing to a string cannot fail, and no map of a summary or a digest has keys other than
    // strings.
    let json = serde_json::to_string(data).unwrap_or_else(|_| "null".to_owned());
    let mut safe = String::with_capacity(json.len());
    for character in json.chars() {
        if matches!(character, '<' | '&') || !(' '..='~').contains(&character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                safe.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            safe.push(character);
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        for (plain, encoded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("\u{ff}", "w78="),
        ] {
            assert_eq!(base64(plain.as_bytes()), encoded);
        }
    }

    #[test]
    fn the_hash_is_that_of_fips_180() {
        assert_eq!(hash("abc"), "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
    }
}
