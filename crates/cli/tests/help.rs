//! Help texts are part of what users see: they are held word by word by the files in `tests/help/`.

#[test]
fn help_says_what_the_files_say() {
    trycmd::TestCases::new().case("tests/help/*.trycmd").env("COLUMNS", "100");
}
