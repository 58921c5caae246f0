use super::*;

#[test]
fn a_stand_in_takes_part_where_the_toolchain_lacks_what_it_stands_for() {
    let suite = suite(
        "params = { order = \"ordered\" }\nvariants = [\"virtual\"]\n\
         stand_ins = { virtual = \"platform\" }\ncontrols = false",
    );
    let java = |id: &str, missing: Option<Missing>| {
        let all = ["virtual", "platform", "other"].map(|name| variant(name, &["ordered"]));
        let mut all = all.to_vec();
        all[0].unavailable = missing;
        found(id, all)
    };
    let old = java("java@17", Some(Missing::new("came with 21", "name a newer one")));
    let plan = planned(&[suite], &[java("java@25", None), old], &Selection::default()).expect("plan");
    let rows = &plan.suites[0].cells[0].rows;
    let told: Vec<_> = rows.iter().map(|row| (row.record.key.full_name(), row.state.takes_part())).collect();
    let right = [("java@25:virtual", true), ("java@17:virtual", false), ("java@17:platform", true)];
    assert_eq!(told, right.map(|(name, takes_part)| (name.to_owned(), takes_part)));
}
