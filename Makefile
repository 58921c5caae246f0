# What one does here. `make` alone is `make test`; `make help` lists the rest. Needs Rust and Python 3, nothing else.

.DEFAULT_GOAL := test
.PHONY: test readme format-check lint rust probe-rust probe-python probes venv cpp tokio python sanitize install run fmt clean help

# One directory for the workspace and the Rust probe, so that what both depend on is built once.
export CARGO_TARGET_DIR ?= $(CURDIR)/target
# In CI a lock file that does not fit its manifest is an error, not an edit.
LOCKED := $(if $(CI),--locked)

test: format-check lint rust probe-rust probe-python probes cpp tokio python ## set up what is missing and run all tests (default)
	@echo
	@echo "All tests passed. What this machine could not run is named above as \"skipped\"."

format-check:
	@tests/run/with-component rustfmt cargo fmt --all --check

lint: ## clippy on everything, warnings are errors
	@tests/run/with-component clippy cargo clippy $(LOCKED) --workspace --all-targets -- -D warnings
	@cd probes/rust && ../../tests/run/with-component clippy cargo clippy $(LOCKED) --workspace --all-targets -- -D warnings
	@cd probes/rust/futures-0.3.17 && ../../../tests/run/with-component clippy cargo clippy --locked --all-targets -- -D warnings
	@echo "Lint: done."

rust:
	cargo test $(LOCKED) --workspace --all-targets
	cargo test $(LOCKED) --workspace --doc

probe-rust:
	cd probes/rust && cargo test $(LOCKED) --workspace

probe-python: venv
	@tests/run/probe-python

probes: ## the tests of the Go, Node and C++ probes in their own languages, where these are installed
	@tests/run/probes

venv:
	@tests/run/venv

cpp: ## the C and C++ interface, and the observer on Taskflow where it is installed
	@cpp/tests/run --sanitize

tokio: ## the observer of tokio with the hooks that tokio has under --cfg tokio_unstable
	RUSTFLAGS="--cfg tokio_unstable" cargo test $(LOCKED) -p taskscale-tokio --target-dir $(CARGO_TARGET_DIR)/unstable

python: ## the Python package: built as a wheel, with its tests
	@python/tests/run

sanitize: ## Miri, thread and address sanitizers over the live observers (nightly, some minutes)
	@tests/run/sanitize

install: ## the command, the library and its headers: make install PREFIX=/usr/local
	@cpp/install "$(or $(PREFIX),$(error say where: make install PREFIX=/usr/local))"

readme: ## run the README's main command, as written, and look at its output
	@tests/run/readme

run: ## weigh tasks on this machine: the suite `quick`, about a minute
	cargo run --release $(LOCKED) -- run

fmt: ## format all Rust code
	cargo fmt --all
	@echo "Formatted."

clean: ## remove everything that was built
	cargo clean
	@echo "Clean."

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile
