//! Tells the probe the versions that its lock file chose.

#[path = "../linked.rs"]
mod linked;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=../linked.rs");
    linked::tell_versions(&["tokio", "futures-util"]);
}
