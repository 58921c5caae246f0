//! Writes into the shared library the name by which programs look for it: with the part of the
//! version that changes when old programs would not run with it. While the major version is 0 that
//! is the minor one too.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let part = |name: &str| env::var(format!("CARGO_PKG_VERSION_{name}")).unwrap_or_default();
    let version = match part("MAJOR").as_str() {
        "0" => format!("0.{}", part("MINOR")),
        major => major.to_owned(),
    };
    // Elsewhere linkers have other words for it; `make install` is for Linux.
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libtaskscale.so.{version}");
    }
}
