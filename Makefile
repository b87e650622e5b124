# Needs make and Python 3.11 or newer, nothing else: .venv is made here, from requirements.lock.

# Another interpreter: make PYTHON=/path/to/python3
PYTHON ?=
# Thousands of examples a property in `make soak`.
SOAK ?= 10
# How long `make fuzz` searches.
SECONDS ?= 3600

BIN := .venv/bin
READY := .venv/installed

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test check hooks bench soak fuzz picture format lock clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

demo: $(READY)  ## set up, then show a mention answered, in the terminal
	@$(BIN)/dragoman play

test: check  ## set up, check, then run every test that needs Python alone
	@$(BIN)/python -m pytest --ignore=tests/benchmarks
	@echo 'Left out: tests/benchmarks (make bench); the long run of tests/properties, of the crash tests and of the fault tests (make soak).'

# A tool's words are shown only where it has a complaint.
quietly = @echo '  $(1)'; words=$$($(BIN)/$(1) 2>&1) || { printf '%s\n' "$$words"; exit 1; }

check: $(READY)  ## set up, then format, lint, types and the import rule, changing nothing
	$(call quietly,ruff format --check --output-format concise)
	$(call quietly,ruff check --quiet --output-format concise)
	$(call quietly,pyright)
	$(call quietly,lint-imports --no-logo)

hooks:  ## let git run `make check` before every commit
	@hooks=$$(git rev-parse --git-path hooks) && mkdir -p "$$hooks" && \
	if [ -e "$$hooks/pre-commit" ] && ! grep -q 'make check' "$$hooks/pre-commit"; then \
	    echo "There is a hook already: $$hooks/pre-commit. Add the line 'make check' to it." >&2; exit 1; \
	fi && \
	printf '#!/bin/sh\n# Written by make hooks.\nexec make check\n' > "$$hooks/pre-commit" && chmod +x "$$hooks/pre-commit" && \
	echo 'git runs make check before every commit from now on; git commit --no-verify goes without.'

bench: $(READY)  ## the benchmarks
	@$(BIN)/python -m pytest tests/benchmarks -s

soak: $(READY)  ## SOAK (10) thousand examples a property and ten times that of the reply, SOAK times the kills and the faults
	@DRAGOMAN_SOAK=$(SOAK) $(BIN)/python -m pytest tests/properties $(wildcard tests/e2e/*_crash.py) \
	    tests/e2e/test_faults.py -o faulthandler_timeout=3600

fuzz: $(READY)  ## a coverage-guided search for texts that break the chunker's laws, SECONDS long (3600); Linux only
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r tests/fuzz/requirements.lock
	@mkdir -p .fuzz && $(BIN)/python -m tests.fuzz.chunker -max_total_time=$(SECONDS) -max_len=2000 \
	    -artifact_prefix=.fuzz/ .fuzz

picture: $(READY)  ## the picture in the README, from a real run
	@$(BIN)/dragoman play --say 'How do I count status codes in a 20 GB log?' --script config/play/picture.md --limit 420 \
	    --save-svg docs/play.svg > /dev/null

format: $(READY)  ## format, and mend what the linter can mend
	@$(BIN)/ruff check --quiet --fix-only
	@$(BIN)/ruff format

# The oldest Python resolves, because only old ones need backports; all pins stay but with UPGRADE=1. The one package that
# only newer ones need, for discord.py, stands at the lock's end and is kept as it is.
lock: $(READY)  ## write requirements.lock anew from pyproject.toml (UPGRADE=1: newest versions)
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11) and "make lock needs a .venv of Python 3.11: make clean, then make lock PYTHON=python3.11")'
	@$(BIN)/python -c "$$REQUIREMENTS" > .venv/requirements.in
	@sed -n '/^audioop-lts/,$$p' requirements.lock > .venv/newer.lock
	@$(BIN)/pip-compile --quiet --no-config $(if $(UPGRADE),--upgrade) --generate-hashes --allow-unsafe --strip-extras \
	    --no-header --no-annotate --no-emit-options --no-emit-index-url --no-emit-find-links --no-emit-trusted-host \
	    --output-file requirements.lock .venv/requirements.in
	@cat .venv/newer.lock >> requirements.lock

define REQUIREMENTS
import tomllib
project = tomllib.load(open("pyproject.toml", "rb"))
print(*project["build-system"]["requires"], *project["project"]["dependencies"], *project["dependency-groups"]["dev"], sep="\n")
endef
export REQUIREMENTS

clean:  ## remove what can be made again, .venv too
	@rm -rf .venv build dist .benchmarks .hypothesis .import_linter_cache .pytest_cache .ruff_cache
	@find adapters chunker gateway tests -name __pycache__ -prune -exec rm -rf {} +

# A half-made environment never looks finished: the stamps are written last, and a lock that changed starts from nothing,
# so that nothing it no longer names is left over.
.venv/locked: requirements.lock
	@python=; for each in $(if $(PYTHON),'$(PYTHON)',python3 python3.13 python3.12 python3.11); do \
	    if "$$each" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then python=$$each; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	    echo 'Dragoman needs Python 3.11 or newer, and "$(or $(PYTHON),python3)" is not. Install one, or name it: make PYTHON=/path/to/python3' >&2; exit 1; \
	fi; \
	if ! "$$python" -c 'import ensurepip, venv' 2>/dev/null; then \
	    echo "$$python lacks its venv module. Install it (Debian and Ubuntu: the package python3-venv), then run make again." >&2; exit 1; \
	fi; \
	echo "Setting up .venv with $$("$$python" --version); this is done once, and takes a minute or two."; \
	rm -rf .venv && "$$python" -m venv .venv
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@

.venv/installed: .venv/locked pyproject.toml
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@
