//! Tables that are read as what one thing costs under several settings of a parameter.

use serde::{Deserialize, Serialize};

use super::Block;
use crate::params::{ParamValue, Params};

/// Reads a table as what one thing costs, by CPU and by wall time: a line for each variant, a
/// column for each setting. What a setting costs is told beside the first that its variant has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AcrossOf {
    /// What a figure is of: `wake-up`.
    pub unit: String,
    /// How many of them a unit of the size consists of: a round trip is two wake-ups.
    #[serde(default = "one")]
    pub count: u64,
    /// The parameter that says how many tasks arrive a second, where a unit of the size is a
    /// millisecond that is watched. A figure is then told as percent of a core, and as what one
    /// that arrives costs; wall time, which is what was asked for, is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<String>,
    /// The settings, in the order of the columns.
    pub columns: Vec<Setting>,
}

/// A column: the rows that have all of its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// What stands above the column: `1 worker`.
    pub name: String,
    /// Those that `params` and `cases` of the table set.
    pub params: Params,
}

fn one() -> u64 {
    1
}

impl AcrossOf {
    /// The place of the column that a row with these parameters stands in.
    pub fn column(&self, params: &Params) -> Option<usize> {
        let holds =
            |setting: &Setting| setting.params.iter().all(|(name, value)| params.get(name) == Some(value));
        self.columns.iter().position(holds)
    }

    /// How many tasks arrive a second in each of the columns; none where the table is not read so.
    pub fn rates(&self) -> Vec<u64> {
        let Some(name) = &self.rate else { return Vec::new() };
        let rate = |column: &Setting| match column.params.get(name) {
            Some(ParamValue::Integer(rate)) => *rate,
            _ => 0,
        };
        self.columns.iter().map(rate).collect()
    }

    pub(super) fn check(&self, block: &Block) -> Result<(), String> {
        if self.count == 0 {
            return Err("across needs a count above zero".into());
        }
        if self.rates().contains(&0) {
            return Err("across needs its rate, a number above zero, in the params of each column".into());
        }
        let cases = std::iter::once(Params::new()).chain(block.cases.iter().cloned());
        let mut taken: Vec<usize> = cases
            .map(|case| {
                let mut params = block.params.clone();
                params.extend(case.clone());
                let label = crate::params::label(&params);
                self.column(&params).ok_or_else(|| format!("across has no column for {label}"))
            })
            .collect::<Result<_, _>>()?;
        taken.sort_unstable();
        match taken.is_sorted_by(|a, b| a < b) {
            true => Ok(()),
            false => Err("across has two rows of a variant in one column: tell its params".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::suite::Suite;

    fn read(columns: &str) -> Result<Suite, String> {
        let text = format!(
            "schema = \"taskscale.suite/1\"\nname = \"s\"\ntitle = \"s\"\n[[workload]]\nname = \"w\"\nsizes = [1]\n\
             params = {{ n = 1 }}\ncases = [{{ n = 8 }}, {{ n = 8, on = \"all\" }}]\nanswer = {{ rule = \"count\" }}\n\
             across = {{ unit = \"task\", {columns} }}\n"
        );
        Suite::parse(&text).map_err(|why| why.to_string())
    }

    #[test]
    fn every_row_of_a_variant_has_a_column_of_its_own() {
        let first = "{ name = \"1\", params = { n = 1 } }";
        let whole = format!(
            "columns = [{first}, {{ name = \"8 on all\", params = {{ n = 8, on = \"all\" }} }}, \
             {{ name = \"8\", params = {{ n = 8 }} }}]"
        );
        let suite = read(&whole).expect("a suite");
        let (block, across) = (&suite.workloads[0], suite.workloads[0].across.as_ref().expect("read so"));
        assert_eq!(across.count, 1);
        assert_eq!(across.column(&block.params), Some(0));
        assert_eq!(across.column(&block.cases[0]), Some(2));
        assert_eq!(across.column(&block.cases[1]), Some(1));
        assert_eq!(across.rates(), [] as [u64; 0]);
        let rated = read(&format!("rate = \"n\", {whole}")).expect("a suite").workloads.remove(0).across;
        assert_eq!(rated.map(|across| across.rates()), Some(vec![1, 8, 8]));
        for (columns, problem) in [
            (format!("columns = [{first}]"), "across has no column for n=8"),
            (
                format!("columns = [{first}, {{ name = \"8\", params = {{ n = 8 }} }}]"),
                "two rows of a variant",
            ),
            (format!("count = 0, {whole}"), "a count above zero"),
            (format!("rate = \"m\", {whole}"), "its rate, a number above zero, in the params"),
        ] {
            let said = read(&columns).expect_err(problem);
            assert!(said.contains(problem), "{said}");
        }
    }
}
