//! Asks the compiler what it calls itself: `rustc 1.95.0 (59807616e 2026-04-14)`.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let rustc = std::env::var_os("RUSTC").unwrap_or("rustc".into());
    let said =
        std::process::Command::new(rustc).arg("--version").output().unwrap_or_else(|why| panic!("{why}"));
    println!("cargo:rustc-env=TASKSCALE_TOOLCHAIN={}", String::from_utf8_lossy(&said.stdout).trim());
}
