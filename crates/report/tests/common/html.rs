//! A page as a browser reads it, and what every page promises.

use std::collections::BTreeSet;

use scraper::{ElementRef, Html, Selector};
use sha2::{Digest, Sha256};

/// Names that would be markup, end an element or an attribute, or turn text around.
pub const HOSTILE: [&str; 5] = [
    "<script>alert(1)</script>",
    "\"' onload='alert(2)' x=\"",
    "</script><!--<img src=x onerror=alert(3)>",
    "a\u{1b}[2J\u{202e}\u{2066}\u{0}\u{85}\nb",
    "{{ 7 }}&lt;b&gt;]]>\u{fffe}",
];

pub fn parsed(page: &str) -> Html {
    Html::parse_document(page)
}

pub fn all<'a>(html: &'a Html, selector: &str) -> Vec<ElementRef<'a>> {
    let selector = Selector::parse(selector).expect("a selector");
    html.select(&selector).collect()
}

/// The text of an element, with single blanks.
pub fn text_of(element: ElementRef<'_>) -> String {
    element.text().collect::<Vec<_>>().join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a reader sees: the text of the body without the data and the script.
pub fn visible(html: &Html) -> String {
    ["header", "main"].map(|name| text_of(all(html, name)[0])).join(" ")
}

pub fn script(html: &Html) -> String {
    let scripts = all(html, "script:not([type])");
    assert_eq!(scripts.len(), 1, "one script and no other");
    scripts[0].text().collect()
}

pub fn data(html: &Html) -> String {
    all(html, "script#data")[0].text().collect()
}

fn from_base64(text: &str) -> Vec<u8> {
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits: Vec<usize> = text.trim_end_matches('=').chars().filter_map(|c| letters.find(c)).collect();
    let bits: String = bits.iter().map(|six| format!("{six:06b}")).collect();
    let whole = bits.len() / 8 * 8;
    (0..whole).step_by(8).map(|at| u8::from_str_radix(&bits[at..at + 8], 2).expect("bits")).collect()
}

/// Nothing is fetched from anywhere, neither by an element nor by the style or the script.
pub fn fetches_nothing(html: &Html) {
    let style: String = all(html, "style")[0].text().collect();
    for word in ["http:", "https:", "//", "url(", "@import"] {
        assert!(!style.contains(word), "{word} in the style");
    }
    for element in all(html, "*") {
        for (name, value) in element.value().attrs() {
            assert!(!["src", "srcset", "style", "action", "data", "poster"].contains(&name), "{name}");
            assert!(!name.starts_with("on"), "{name}");
            assert!(name != "href" || value.starts_with('#'), "{value}");
            assert!(!value.contains("http:") && !value.contains("https:"), "{name}={value}");
        }
        assert!(
            !["link", "img", "iframe", "object", "embed", "base", "form"].contains(&element.value().name())
        );
    }
    let script = script(html);
    for word in ["http", "fetch", "import", "XMLHttpRequest", "innerHTML", "eval", ".src"] {
        assert!(!script.contains(word), "{word} in the script");
    }
}

/// The policy allows the script and the style of the page, by their hashes, and nothing else.
pub fn policy_is_strict(html: &Html) {
    let policy = all(html, "meta[http-equiv=Content-Security-Policy]")[0].value().attr("content");
    let policy = policy.expect("a policy");
    let style: String = all(html, "style")[0].text().collect();
    let allowed = |name: &str| -> Vec<String> {
        let of = policy.split("; ").find_map(|part| part.strip_prefix(&format!("{name} ")));
        of.unwrap_or_default().split(' ').map(str::to_owned).collect()
    };
    assert_eq!(allowed("default-src"), ["'none'"]);
    for (name, text) in [("script-src", script(html)), ("style-src", style)] {
        let [source] = &allowed(name)[..] else { panic!("{policy}") };
        let hash = source.strip_prefix("'sha256-").and_then(|rest| rest.strip_suffix('\'')).expect(policy);
        assert_eq!(from_base64(hash), Sha256::digest(text.as_bytes()).to_vec(), "{name}");
    }
}

/// Ids are unique, and what refers to one leads to it.
pub fn ids_lead_somewhere(html: &Html) {
    let mut ids = BTreeSet::new();
    for element in all(html, "[id]") {
        let id = element.value().attr("id").expect("an id");
        assert!(ids.insert(id.to_owned()), "{id} twice");
    }
    for name in ["for", "aria-labelledby", "aria-controls", "aria-describedby", "href"] {
        for element in all(html, &format!("[{name}]")) {
            let value = element.value().attr(name).expect("a value").trim_start_matches('#');
            for id in value.split(' ') {
                assert!(ids.contains(id), "{name}={id} leads nowhere");
            }
        }
    }
}

/// Every control has a name, and every drawing a description.
pub fn all_has_a_name(html: &Html) {
    for input in all(html, "input") {
        let id = input.value().attr("id").expect("an id");
        let labels = all(html, &format!("label[for={id}]"));
        assert!(labels.len() == 1 && !text_of(labels[0]).is_empty(), "{id}");
    }
    for button in all(html, "button, summary, a, th, figcaption, h1, h2, h3, h4, dt, dd") {
        let svg = Selector::parse("svg").expect("a selector");
        assert!(!text_of(button).is_empty() || button.select(&svg).next().is_some(), "{}", button.html());
    }
    for button in all(html, "th button") {
        assert_eq!(button.value().attr("type"), Some("button"));
    }
    for drawing in all(html, "svg[role], figure > svg, figure > div > svg, td > svg, th > svg") {
        assert_eq!(drawing.value().attr("role"), Some("img"));
        let named = ["aria-label", "aria-labelledby"]
            .iter()
            .any(|name| drawing.value().attr(name).is_some_and(|value| !value.is_empty()));
        assert!(named, "{}", drawing.html());
    }
    for region in all(html, "[tabindex]") {
        let named = ["aria-label", "aria-labelledby"].iter().any(|name| region.value().attr(name).is_some());
        assert!(named, "what can be reached by keyboard has a name");
    }
}

/// The landmarks are there, headings in order, and the sections, those that there are, in this one.
pub fn is_in_order(html: &Html, order: &[&str]) {
    for name in ["header", "nav", "main", "footer", "h1", "head title"] {
        assert_eq!(all(html, name).len(), 1, "{name}");
    }
    let mut level = 0;
    for heading in all(html, "h1, h2, h3, h4") {
        let next: u32 = heading.value().name()[1..].parse().expect("a level");
        assert!(next <= level + 1, "h{next} behind h{level}");
        level = next;
    }
    let sections: Vec<_> =
        all(html, "main > section").iter().filter_map(|one| one.value().attr("id")).collect();
    let expected: Vec<_> = order.iter().copied().filter(|id| sections.contains(id)).collect();
    assert_eq!(sections, expected);
}

/// Nothing is drawn at a place that is no number.
pub fn draws_no_nonsense(html: &Html) {
    for element in all(html, "svg *") {
        for (name, value) in element.value().attrs() {
            assert!(!value.contains("NaN") && !value.contains("inf"), "{name}={value}");
        }
    }
}

/// The elements of a page in their order, and how many attributes they have.
pub fn shape(html: &Html) -> (Vec<String>, usize) {
    let elements = all(html, "*");
    let names = elements.iter().map(|element| element.value().name().to_owned()).collect();
    (names, elements.iter().map(|element| element.value().attrs().count()).sum())
}
