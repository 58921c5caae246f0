//! Asks the compiler what it calls itself: `rustc 1.95.0 (59807616e 2026-04-14)`.

use std::{env, process::Command};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let toolchain = toolchain().unwrap_or_else(|| "rustc unknown".to_owned());
    println!("cargo:rustc-env=TASKSCALE_TOOLCHAIN={toolchain}");
}

fn toolchain() -> Option<String> {
    let output = Command::new(env::var_os("RUSTC")?).arg("--version").output().ok()?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
