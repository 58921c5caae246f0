//! What `--param NAME=VALUE` asks of a suite's tables: that value alone, also where a table has
//! several; and with `NAME=all` every value that it has.

use taskscale_model::{
    params::{ParamValue, Params},
    suite::Block,
};

/// Parameters as they were typed.
pub type Asked = [(String, ParamValue)];

/// The word for every value that a table has.
const ALL: &str = "all";

/// Refuses two values of one parameter: a run would keep the last and say nothing.
pub fn check(asked: &Asked) -> anyhow::Result<()> {
    for (at, (name, value)) in asked.iter().enumerate() {
        if let Some((_, first)) = asked[..at].iter().find(|(other, first)| other == name && first != value) {
            anyhow::bail!(
                "--param {name} is given twice, as {first} and {value}; give one value, or {name}=all for every \
                 value that a table of the suite has (taskscale list SUITE)"
            );
        }
    }
    Ok(())
}

/// The parameters that are put over those of every table: all but those of which a table has every
/// value that is asked for.
pub fn over<'b>(asked: &Asked, blocks: impl Iterator<Item = &'b Block> + Clone) -> Params {
    let is_for_tables = |(name, value): &&(String, ParamValue)| {
        is_all(value) && blocks.clone().any(|block| has_cases(block, name))
    };
    asked.iter().filter(|one| !is_for_tables(one)).cloned().collect()
}

/// Whether a table has all of these parameters as they are asked for.
pub fn sets(block: &Block, asked: &Asked) -> bool {
    asked.iter().all(|(name, value)| {
        varies(block, name)
            || (is_all(value) && has_cases(block, name))
            || block.params.get(name) == Some(value)
    })
}

/// Leaves a table the cases that are asked for. Of a table of multiples the fewest workers stay,
/// which the others are multiples of; whoever asks for those alone asks for all.
pub fn narrow(block: &mut Block, asked: &Asked) {
    for (name, value) in asked {
        let varies = varies(block, name);
        let base = block.params.get(name) == Some(value);
        let scales = block.scale.as_ref().is_some_and(|scale| scale.param == *name);
        if (is_all(value) && has_cases(block, name)) || (varies && scales && base) {
            continue;
        }
        if varies && scales {
            // What is asked for is put over the table, so that the fewest are the case.
            let fewest = block.params.insert(name.clone(), value.clone());
            block.cases = fewest.map(|fewest| Params::from([(name.clone(), fewest)])).into_iter().collect();
            continue;
        }
        if varies {
            block.params.insert(name.clone(), value.clone());
        }
        block.cases.retain(|case| case.get(name).is_none_or(|own| own == value));
        // What all rows have is no case.
        block.cases.iter_mut().for_each(|case| _ = case.remove(name));
        block.cases.retain(|case| !case.is_empty());
    }
}

/// Whether a table has a parameter at several values, and says at which without its cases.
fn varies(block: &Block, name: &str) -> bool {
    block.params.contains_key(name) && block.cases.iter().any(|case| case.contains_key(name))
}

/// Whether a table has a parameter at several values: those of its cases, and its own or else the
/// workload's.
fn has_cases(block: &Block, name: &str) -> bool {
    block.cases.iter().any(|case| case.contains_key(name))
}

/// What asks for every value that a table has.
pub fn all() -> ParamValue {
    ParamValue::Word(ALL.to_owned())
}

fn is_all(value: &ParamValue) -> bool {
    *value == all()
}

#[cfg(test)]
mod tests {
    use taskscale_model::suite::Suite;

    use super::*;

    fn block(lines: &str) -> Block {
        let text = format!(
            "schema = \"taskscale.suite/1\"\nname = \"s\"\ntitle = \"s\"\n[[workload]]\nname = \"interp\"\nsizes = [1]\n\
             {lines}\nanswer = {{ rule = \"count\" }}"
        );
        Suite::parse(&text).expect("valid").workloads.remove(0)
    }

    /// Parameters of each row that a table has once `typed` is asked of it.
    fn rows(lines: &str, typed: &str) -> Option<Vec<String>> {
        let mut block = block(lines);
        let asked: Vec<(String, ParamValue)> = typed
            .split_whitespace()
            .map(|one| one.split_once('=').expect("NAME=VALUE"))
            .map(|(name, value)| (name.to_owned(), ParamValue::parse(value)))
            .collect();
        if !sets(&block, &asked) {
            return None;
        }
        let over = over(&asked, std::iter::once(&block));
        narrow(&mut block, &asked);
        let cases = std::iter::once(Params::new()).chain(block.cases);
        let row = |case: Params| {
            let mut params = block.params.clone();
            params.extend(over.clone());
            params.extend(case);
            taskscale_model::params::label(&params)
        };
        Some(cases.map(row).collect())
    }

    #[test]
    fn one_value_is_asked_for_alone_and_all_are_asked_for_by_that_word() {
        let depths =
            "params = { depth = 300 }\ncases = [{ depth = 1000 }, { depth = 3000 }]\nreach = \"depth\"";
        let of = |typed: &str| rows(depths, typed).expect("its own");
        assert_eq!(of("depth=300"), ["depth=300"]);
        assert_eq!(of("depth=1000"), ["depth=1000"]);
        assert_eq!(of("depth=777"), ["depth=777"], "one that the table does not have");
        assert_eq!(of("depth=all"), ["depth=300", "depth=1000", "depth=3000"]);
        assert_eq!(rows(depths, "lookup=all"), None);
    }

    #[test]
    fn a_multiple_is_asked_for_beside_the_fewest_workers() {
        let workers = "params = { workers = 1 }\ncases = [{ workers = 2 }, { workers = 4 }]\n\
                       scale = { param = \"workers\", unit = \"request\" }";
        let of = |typed: &str| rows(workers, typed).expect("its own");
        assert_eq!(of("workers=1"), ["workers=1", "workers=2", "workers=4"]);
        assert_eq!(of("workers=all"), of("workers=1"));
        assert_eq!(of("workers=4"), ["workers=4", "workers=1"]);
    }

    #[test]
    fn a_case_of_another_parameter_stays() {
        let collector =
            "params = { live = 1 }\ncases = [{ gc = \"off\" }, { gc = \"freeze\" }, { input = \"before\" }]";
        let mut table = block(collector);
        assert!(
            !sets(&table, &[("gc".into(), ParamValue::parse("off"))]),
            "it does not say what it is without"
        );
        narrow(&mut table, &[("gc".into(), ParamValue::parse("off"))]);
        assert_eq!(table.cases, [Params::from([("input".into(), ParamValue::parse("before"))])]);
        let all = rows(
            "params = { live = 1 }\ncases = [{ gc = \"off\" }, { gc = \"freeze\" }, { input = \"before\" }]",
            "gc=all",
        );
        let all = all.expect("its cases are all there are, beside what the workload does by itself");
        assert_eq!(all, ["live=1", "gc=off live=1", "gc=freeze live=1", "input=before live=1"]);
    }

    #[test]
    fn two_values_of_one_parameter_are_refused_and_the_same_twice_is_not() {
        let asked = |values: [&str; 2]| values.map(|value| ("gc".to_owned(), ParamValue::parse(value)));
        let said = check(&asked(["off", "on"])).expect_err("two").to_string();
        assert!(said.contains("given twice, as off and on") && said.contains("gc=all"), "{said}");
        assert!(check(&asked(["off", "off"])).is_ok());
    }
}
