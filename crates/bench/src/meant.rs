//! Which of the names that there are was meant by one that is not among them.

/// The name that `asked` most likely misspells; `None` where none is near. Letters are swapped,
/// missing, added or wrong in at most a third of it, in whatever case; else it is the beginning of
/// one name alone. O(names x length^2).
///
/// ```
/// use taskscale_bench::meant::meant;
///
/// let known = ["tokio", "asyncio", "threads"];
/// assert_eq!(meant("asynco", known), Some("asyncio"));
/// assert_eq!(meant("Tokio", known), Some("tokio"));
/// assert_eq!(meant("thr", known), Some("threads"));
/// assert_eq!(meant("go", known), None);
/// ```
pub fn meant<'a>(asked: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let asked = asked.to_lowercase();
    // What is longer is no name, and comparing takes the square of it.
    let length = Some(asked.chars().count()).filter(|length| *length <= LONGEST)?;
    let known: Vec<&str> = known.into_iter().filter(|name| name.chars().count() <= LONGEST).collect();
    let near = known.iter().filter_map(|name| {
        let far = strsim::osa_distance(&asked, &name.to_lowercase());
        (far <= length.max(name.chars().count()) / 3).then_some((far, *name))
    });
    let nearest = near.min_by_key(|(far, _)| *far).map(|(_, name)| name);
    nearest.or_else(|| {
        let mut begun = known.iter().filter(|name| name.to_lowercase().starts_with(&asked));
        let first = begun.next().filter(|_| length >= LEAST_BEGUN)?;
        begun.all(|other| other == first).then_some(*first)
    })
}

/// What there is instead of `asked`, behind the name that was meant: `did you mean tokio? There are
/// go, tokio`. `rest` is what is said of all.
pub fn or_else<'a>(asked: &str, known: impl IntoIterator<Item = &'a str>, rest: &str) -> String {
    let Some(name) = meant(asked, known) else { return rest.to_owned() };
    let mut letters = rest.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    format!("did you mean {name}? {first}{}", letters.as_str())
}

/// The longest name that is compared, in characters.
const LONGEST: usize = 64;

/// The fewest letters that begin a name.
const LEAST_BEGUN: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_hand_are_known_and_other_words_are_not() {
        let known = ["gather", "TaskGroup", "multi_thread/JoinSet", "JoinSet", "await_each", "go", "sync"];
        for (asked, name) in [
            ("gatherr", Some("gather")),
            ("gahter", Some("gather")),
            ("taskgroup", Some("TaskGroup")),
            ("Joinset", Some("JoinSet")),
            ("await-each", Some("await_each")),
            ("await", Some("await_each")),
            ("multi_thread/Joinset", Some("multi_thread/JoinSet")),
            ("lunch", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(meant(asked, known), name, "{asked}");
        }
        assert_eq!(meant("nop", ["nothing", "nope_a", "nope_b"]), None, "two begin so");
        assert_eq!(meant(&"x".repeat(10_000), ["x"]), None);
    }

    #[test]
    fn what_was_meant_stands_before_what_there_is() {
        let known = ["fanout", "nop"];
        assert_eq!(
            or_else("fanot", known, "there are fanout, nop"),
            "did you mean fanout? There are fanout, nop"
        );
        assert_eq!(or_else("lunch", known, "there are fanout, nop"), "there are fanout, nop");
    }
}
