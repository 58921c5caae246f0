//! Which programs there are: the files that the binary carries, and the claims that their first
//! lines name.

use taskscale_model::guide::Program;

use crate::probes::embedded;

/// All programs, in the order of their claims.
pub fn all() -> Vec<Program> {
    let sources = embedded::GUIDE.iter().filter(|(path, _)| path.ends_with(".cpp"));
    sources
        .map(|(path, text)| Program { name: path.trim_end_matches(".cpp").to_owned(), claims: claims(text) })
        .collect()
}

/// The programs that test these claims; all of them without numbers.
///
/// # Errors
/// A claim that no program tests; the error has the numbers that there are.
pub fn of(asked: &[u32]) -> anyhow::Result<Vec<Program>> {
    let all = all();
    if let Some(number) = asked.iter().find(|number| !all.iter().any(|one| one.claims.contains(number))) {
        let last = all.iter().flat_map(|one| &one.claims).max().copied().unwrap_or_default();
        anyhow::bail!("there is no claim {number}; the guide has claims 1 to {last}");
    }
    let is_asked = |one: &Program| asked.is_empty() || one.claims.iter().any(|claim| asked.contains(claim));
    Ok(all.into_iter().filter(is_asked).collect())
}

/// The claims of a source, by its first line: `// Claim 3:`, `// Claims 7 and 8:`, `// Claims 14,
/// 15 and 16:`, `// Claims 17 to 20:`.
fn claims(text: &str) -> Vec<u32> {
    let first = text.lines().next().unwrap_or_default();
    let head = first.split(':').next().unwrap_or_default();
    let numbers = head.split(|letter: char| !letter.is_ascii_digit());
    let numbers: Vec<u32> = numbers.filter_map(|number| number.parse().ok()).collect();
    match (numbers.as_slice(), head.contains(" to ")) {
        ([first, last], true) => (*first..=*last).collect(),
        _ => numbers,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_claim_of_the_guide_has_one_program() {
        let mut numbers: Vec<u32> = all().into_iter().flat_map(|one| one.claims).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (1..=36).collect::<Vec<_>>());
        for one in all() {
            let own = one.name.split('_').next().and_then(|number| number.parse().ok());
            assert_eq!(one.claims.first().copied(), own, "{}", one.name);
        }
    }

    #[test]
    fn programs_are_chosen_by_their_claims() {
        let names = |asked: &[u32]| -> Vec<String> {
            of(asked).expect("claims").into_iter().map(|one| one.name).collect()
        };
        assert_eq!(names(&[19, 3]), ["03_node_size", "17_shared_counter"]);
        assert_eq!(names(&[]).len(), all().len());
        let error = of(&[37]).expect_err("no such claim").to_string();
        assert_eq!(error, "there is no claim 37; the guide has claims 1 to 36");
    }
}
