# What one does here. `make` alone is `make test`; `make help` lists the rest. Needs Rust and Python 3, nothing else.

.DEFAULT_GOAL := test
.PHONY: test tests test-often test-dist readme sanitize install uninstall dist run fmt clean help

# One directory for the workspace and the Rust probe, so that what both depend on is built once.
export CARGO_TARGET_DIR ?= $(CURDIR)/target
PREFIX ?= /usr/local
# In CI a lock file that does not fit its manifest is an error, not an edit.
LOCKED := $(if $(CI),--locked)

tests: test
test: ## set up what is missing and run all tests (default); a part of them: make test STEPS="rust cpp"
	@python3 tests/runner $(STEPS)

test-often: ## run all tests 20 times as they are, 20 times beside busy loops, 20 times on one core: hours; TIMES=3 for fewer
	@python3 tests/runner --often $(or $(TIMES),20) $(STEPS)

sanitize: ## Miri, thread and address sanitizers over the live observers (nightly, some minutes)
	@tests/run/sanitize

install: ## the command, manual pages, completions, the library and its headers: make install PREFIX=/usr/local DESTDIR=
	@packaging/install "$(PREFIX)"

uninstall: ## remove what `make install` with the same PREFIX laid
	@packaging/install --undo "$(PREFIX)"

dist: ## packages under target/dist: a static command, a wheel, a Debian package, SHA256SUMS
	@packaging/dist

test-dist: ## make the packages and run each where it was installed clean: some minutes
	@packaging/tests/dist

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
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile
