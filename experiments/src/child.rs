//! Readings that are taken in a process of their own: what it used, and what it says of itself.

use std::{error::Error, fs, path::Path, process::Command};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Runs this program once more as `--child WAY FILE` and returns the numbers that it prints.
pub fn measure<const N: usize>(way: &str, path: &Path) -> Result<[u64; N]> {
    let output = Command::new(std::env::current_exe()?).args(["--child", way]).arg(path).output()?;
    let text = String::from_utf8(output.stdout)?;
    let numbers: Vec<u64> = text.split_whitespace().map(str::parse).collect::<std::result::Result<_, _>>()?;
    numbers
        .try_into()
        .map_err(|_| format!("{way} failed: {}", String::from_utf8_lossy(&output.stderr)).into())
}

/// The CPU time of a process in nanoseconds: its number, or `self`.
pub fn cpu_ns(process: &str) -> Result<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/schedstat"))?;
    Ok(text.split_whitespace().next().ok_or("empty schedstat")?.parse()?)
}

/// The most memory that this process has had, in kB.
pub fn peak_kb() -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    Ok(peak.split_whitespace().next().ok_or("no figure")?.parse()?)
}
