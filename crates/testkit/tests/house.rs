//! Holds this repository to its own rules. Each check's module tests what the check can find, on
//! made-up repositories.

use taskscale_testkit::repository::Repository;
use taskscale_testkit::{arrows, documents, doors, layout, sdk};

fn holds(check: fn(&Repository) -> Vec<String>) {
    let repository = Repository::this().expect("the repository can be read");
    // A walk that finds nothing would make every check pass.
    assert!(repository.files.len() > 30, "only {} files found", repository.files.len());
    let problems = check(&repository);
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn arrows_point_down() {
    holds(arrows::problems);
}

#[test]
fn clippy_holds_pure_crates() {
    holds(doors::pure_crates);
}

#[test]
fn unsafe_has_its_rooms() {
    holds(doors::unsafe_rooms);
}

#[test]
fn modules_lie_where_their_names_say() {
    holds(layout::paths_of_modules);
}

#[test]
fn experiments_are_listed() {
    holds(documents::experiments);
}

#[test]
fn the_walk_of_a_measurement_is_short() {
    holds(documents::walk);
}

#[test]
fn links_and_file_names_lead_somewhere() {
    holds(documents::links);
}

#[test]
fn the_commands_of_the_readme_are_there() {
    holds(documents::commands);
}

#[test]
fn no_file_is_too_long() {
    holds(layout::long_files);
}

#[test]
fn prose_is_not_wide() {
    holds(layout::wide_prose);
}

#[test]
fn no_file_names_a_registry_or_a_machine() {
    holds(layout::machine_names);
}

#[test]
fn nothing_leads_to_what_no_reader_can_open() {
    holds(layout::nowhere);
}

#[test]
fn probes_are_of_one_shape() {
    holds(layout::probe_shapes);
}

#[test]
fn sdks_are_short_and_of_one_shape() {
    holds(sdk::problems);
}

#[test]
fn suites_are_read_and_named_like_their_files() {
    holds(layout::suites);
}
