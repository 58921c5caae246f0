//! Asks the compiler for its name and version: `rustc 1.95.0 (59807616e 2026-04-14)`.

fn main() {
    let rustc = std::env::var_os("RUSTC").unwrap_or("rustc".into());
    let said = std::process::Command::new(rustc).arg("--version").output().expect("cargo names its compiler");
    println!("cargo:rustc-env=TASKSCALE_TOOLCHAIN={}", String::from_utf8_lossy(&said.stdout).trim());
}
