//! Asks the compiler for its name and version: `rustc 1.95.0 (59807616e 2026-04-14)`. A C library
//! other than the usual one is named behind it, since tasks are allocated by it: with musl's they
//! cost a third more.

fn main() {
    let rustc = std::env::var_os("RUSTC").unwrap_or("rustc".into());
    let said = std::process::Command::new(rustc).arg("--version").output().expect("cargo names its compiler");
    let library = match std::env::var("CARGO_CFG_TARGET_ENV").as_deref() {
        Ok("musl") => ", musl",
        _ => "",
    };
    println!("cargo:rustc-env=TASKSCALE_TOOLCHAIN={}{library}", String::from_utf8_lossy(&said.stdout).trim());
}
