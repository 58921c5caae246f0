//! Help texts are part of what users see. The files in `tests/help/` hold them word by word.

#[test]
fn help_says_what_the_files_say() {
    trycmd::TestCases::new().case("tests/help/*.trycmd").env("COLUMNS", "100");
}
