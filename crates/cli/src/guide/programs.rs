//! Which programs there are: the files that the binary carries, and the claims that their first
//! lines name.

use taskscale_model::guide::Program;

use super::libraries::Library;
use crate::probes::embedded;

/// All programs of Taskflow, in the order of their claims. Their names begin with a number.
pub fn all() -> Vec<Program> {
    let is_numbered = |path: &str| path.starts_with(|first: char| first.is_ascii_digit());
    let sources = embedded::GUIDE.iter().filter(|(path, _)| path.ends_with(".cpp") && is_numbered(path));
    sources
        .map(|(path, text)| {
            let claims = claims(text);
            let says = claims.iter().map(|number| says(text, *number)).collect();
            Program { name: path.trim_end_matches(".cpp").to_owned(), claims, says, library: None }
        })
        .collect()
}

/// What a claim says, in the words of the program that tests it: what stands behind `{3, "`. Empty
/// where there is no such place.
fn says(text: &str, number: u32) -> String {
    let behind = text.split_once(&format!("{{{number}, \"")).map(|(_, behind)| behind);
    behind.and_then(|behind| behind.split('"').next()).unwrap_or_default().to_owned()
}

/// The experiments of a library that test these claims; all of them without numbers. Its program
/// runs one of them by `--claim` with the first number.
pub fn of_library(library: &Library, asked: &[u32]) -> Vec<Program> {
    let head = library.text().lines().find(|line| line.contains("Claims ")).unwrap_or_default();
    let groups = head.split(" of Taskflow's guide").next().unwrap_or_default().split(';').map(claims);
    let all = all();
    let said = |number: &u32| {
        let of = |program: &Program| program.said_of(*number).map(str::to_owned);
        all.iter().find_map(of).unwrap_or_default()
    };
    groups
        .filter(|claims| is_asked(claims, asked))
        .map(|claims| Program {
            name: format!("{}/{}", library.name, claims.first().copied().unwrap_or_default()),
            says: claims.iter().map(said).collect(),
            claims,
            library: Some(library.name.to_owned()),
        })
        .collect()
}

fn is_asked(claims: &[u32], asked: &[u32]) -> bool {
    asked.is_empty() || claims.iter().any(|claim| asked.contains(claim))
}

/// The programs of Taskflow that test these claims; all of them without numbers.
///
/// # Errors
/// A claim that no program tests; the error has the numbers that there are.
pub fn of(asked: &[u32]) -> anyhow::Result<Vec<Program>> {
    let all = all();
    if let Some(number) = asked.iter().find(|number| !all.iter().any(|one| one.claims.contains(number))) {
        let last = all.iter().flat_map(|one| &one.claims).max().copied().unwrap_or_default();
        anyhow::bail!("there is no claim {number}; claims and questions are numbered 1 to {last}");
    }
    Ok(all.into_iter().filter(|one| is_asked(&one.claims, asked)).collect())
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
        assert_eq!(numbers, (1..=42).collect::<Vec<_>>());
        for one in all() {
            let own = one.name.split('_').next().and_then(|number| number.parse().ok());
            assert_eq!(one.claims.first().copied(), own, "{}", one.name);
            for number in &one.claims {
                assert!(one.said_of(*number).is_some_and(|text| text.len() > 20), "{number}: {one:?}");
            }
        }
    }

    #[test]
    fn every_library_has_the_experiments_of_its_program() {
        let of = |library: &Library| -> Vec<Vec<u32>> {
            of_library(library, &[]).into_iter().map(|one| one.claims).collect()
        };
        for library in &crate::guide::libraries::ALL {
            assert_eq!(
                of(library),
                [&[9][..], &[10], &[12], &[13], &[14, 15, 16], &[17, 18, 19, 20], &[28], &[29], &[35], &[36]],
                "{}",
                library.name
            );
            let one = of_library(library, &[15]);
            assert!(one[0].says.iter().all(|text| text.len() > 20), "{one:?}");
            assert_eq!(one[0].name, format!("{}/14", library.name));
            assert!(of_library(library, &[3]).is_empty(), "{}", library.name);
        }
    }

    #[test]
    fn programs_are_chosen_by_their_claims() {
        let names = |asked: &[u32]| -> Vec<String> {
            of(asked).expect("claims").into_iter().map(|one| one.name).collect()
        };
        assert_eq!(names(&[19, 3]), ["03_node_size", "17_shared_counter"]);
        assert_eq!(names(&[]).len(), all().len());
        let error = of(&[43]).expect_err("no such claim").to_string();
        assert_eq!(error, "there is no claim 43; claims and questions are numbered 1 to 42");
    }
}
