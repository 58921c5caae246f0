//! Names of runtimes that differ by their toolchain, such as two Pythons.

use crate::style::clean;

/// The name of a runtime among others, in full where it has at most `most` characters. Of a longer
/// one the toolchain is told by the last part of its path that no other has:
/// `asyncio@3.13` of `asyncio@python3.13`, `asyncio@3.8.18` of
/// `asyncio@/opt/versions/3.8.18/bin/python3`, `java@17` of `java@/usr/lib/jvm/java-17-openjdk`,
/// `asyncio@web` of `asyncio@/srv/web/bin/python`.
/// O(others * parts of the path).
pub(crate) fn short(id: &str, others: &[&str], most: usize) -> String {
    let in_full = || clean(id);
    let Some((name, toolchain)) = id.split_once('@') else { return in_full() };
    if id.chars().count() <= most {
        return in_full();
    }
    let parts = |id: &str, place: usize| -> Option<[String; 3]> {
        let (of, toolchain) = id.split_once('@')?;
        let part = toolchain.rsplit('/').nth(place).filter(|_| of == name)?;
        let version = part.find(|letter: char| letter.is_ascii_digit()).unwrap_or(part.len());
        let version = &part[version..];
        let end = version.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
        let number = version[..end.unwrap_or(version.len())].trim_end_matches('.');
        Some([number, version, part].map(str::to_owned))
    };
    let differs = |place: usize, kind: usize, mine: &str| {
        let others = others.iter().filter(|other| **other != id);
        others.filter_map(|other| parts(other, place)).all(|theirs| theirs[kind] != mine)
    };
    let places = toolchain.rsplit('/').count();
    let all = (0..places).filter_map(|place| Some((place, parts(id, place)?)));
    let mut told = all.flat_map(|(place, parts)| {
        parts.into_iter().enumerate().map(move |(kind, part)| (place, kind, part))
    });
    let told = told.find(|(place, kind, mine)| !mine.is_empty() && differs(*place, *kind, mine));
    told.map_or_else(in_full, |(.., part)| clean(&format!("{name}@{part}")))
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn a_toolchain_is_told_by_what_no_other_has() {
        let pyenv = |version: &str| format!("asyncio@/opt/pyenv/versions/{version}/bin/python3");
        let (old, new) = (pyenv("3.8.18"), pyenv("3.13.0"));
        let all: [&str; 9] = [
            "asyncio",
            "asyncio@python3.12",
            "asyncio@python3.13",
            &old,
            &new,
            "asyncio@/srv/web/bin/python",
            "asyncio@/srv/jobs/bin/python",
            "trio@/srv/jobs/bin/python",
            "go@1.2",
        ];
        let shown = [
            "asyncio",
            "asyncio@3.12",
            "asyncio@3.13",
            "asyncio@3.8.18",
            "asyncio@3.13.0",
            "asyncio@web",
            "asyncio@jobs",
            "trio@python",
            "go@1.2",
        ];
        for (id, shown) in all.iter().zip(shown) {
            assert_eq!(short(id, &all, 12), shown);
        }
        let jdks = ["java@/jvm/java-17-openjdk-amd64", "java@/jvm/temurin-25-jdk-amd64"];
        assert_eq!(jdks.map(|jdk| short(jdk, &jdks, 12)), ["java@17", "java@25"]);
        let same = ["asyncio@/opt/python3.13", "asyncio@/opt/python3.13t", "asyncio@/opt/python3.9-"];
        assert_eq!(same.map(|one| short(one, &same, 12)), ["asyncio@3.13", "asyncio@3.13t", "asyncio@3.9"]);
        assert_eq!(short("asyncio@/a", &["asyncio@/a", "asyncio@/a"], 4), "asyncio@a");
        assert_eq!(short("asyncio@a/x/a", &["asyncio@a/x/a", "asyncio@b/x/a"], 4), "asyncio@a");
        assert_eq!(short("asyncio@", &[], 4), "asyncio@");
    }
}
