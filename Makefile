# Everything a person does with this checkout. `make help` lists it.

PYTHON ?= python3
UV := .tools/bin/uv
RUN := .venv/bin/python
export UV_PROJECT_ENVIRONMENT := .venv
export UV_COMPILE_BYTECODE := 1
export UV_LINK_MODE := copy

PAGE := tasks/core/navigation/explorer
KERNEL_FILES := $(shell grep -rlw --include='*.py' njit tasks/core) $(wildcard tasks/core/compiling/*.py) flows/command/warm_up.py

.DEFAULT_GOAL := help
.PHONY: help setup kernels demo check test test-slow test-operations frozen bench survey page serve deploy lock clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

setup: .venv/.kernels  ## install what running needs into .venv, from the lock

kernels: .venv/.all-kernels  ## compile all kernels for all users of this checkout (a run compiles what it lacks)

demo: setup  ## run the main flow on an embedded sample into demo/
	@$(RUN) -m flows demo

check: .venv/.dev  ## format, lint, types, imports, SQL
	@.venv/bin/ruff format --check .
	@.venv/bin/ruff check .
	@.venv/bin/mypy
	@.venv/bin/lint-imports
	@.venv/bin/sqlfluff lint sql --processes 1 --nocolor

test: check .venv/.all-kernels  ## check, then the tests
	@.venv/bin/pytest -m "not slow and not frozen and not operations" -q -n 2 --dist worksteal

test-slow: .venv/.dev .venv/.all-kernels  ## slow statistics and breakages (some minutes)
	@.venv/bin/pytest -m slow -q -s

test-operations: .venv/.dev .venv/.all-kernels  ## a real server and worker, and what breaks them (within an hour)
	@.venv/bin/pytest -m operations -q -n 2 --dist loadfile tests/operations

frozen: .venv/.dev .venv/.all-kernels  ## is all that goes out what it was? (three CPU minutes)
	@.venv/bin/pytest -m frozen -q tests/frozen

bench: .venv/.dev .venv/.all-kernels  ## figures beside the published peer (hours, most of them the peers'); NAME=figure, SKIP_SLOW_PEERS=1
	@$(RUN) -m tests.benchmarks $(NAME) $(if $(SKIP_SLOW_PEERS),--skip-slow-peers)

survey: .venv/.runtime  ## how large the code is, and how often it says a thing; CHECKOUT=folder for another one beside it
	@$(RUN) -m tests.survey $(CHECKOUT) .

page: $(PAGE)/node_modules/.installed  ## build the program of the release's page (needs Node and npm)
	@cd $(PAGE) && npm run --silent types && npm run --silent build

serve: setup  ## a Prefect server and a worker on this machine, until ctrl-C
	@$(RUN) -m flows serve

deploy: setup  ## register the deployments with the configured Prefect API
	@for name in ROOT WORK_POOL STAGING_CONFIGURATION PRODUCTION_CONFIGURATION; do \
	eval test -n \"\$$MARGINALIA_$$name\" || { echo "MARGINALIA_$$name must be set: see deployments/.env.example"; exit 2; }; done
	@.venv/bin/prefect --no-prompt deploy --all --prefect-file deployments/prefect.yaml

lock: $(UV)  ## resolve the dependencies anew
	@$(UV) lock
	@$(UV) export --quiet --frozen --no-dev --no-emit-project --format requirements-txt --output-file requirements.lock

clean:  ## remove what was installed and made here
	rm -rf .venv .tools .bench .kernels .frozen demo $(PAGE)/node_modules

$(UV):
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; \
	sys.exit(0 if (3, 11) <= v < (3, 14) else "Python 3.11 to 3.13 is needed; %s.%s was found. Say which: make PYTHON=python3.12" % v)'
	@echo "Making .tools (the installer)"
	@$(PYTHON) -m venv .tools
	@.tools/bin/python -m pip install --quiet --disable-pip-version-check uv==0.13.8

.venv/.runtime: uv.lock pyproject.toml | $(UV)
	@echo "Installing into .venv what running needs"
	@test -f .venv/.dev || $(UV) sync --quiet --frozen --no-dev --python .tools/bin/python
	@touch $@

.venv/.kernels: $(KERNEL_FILES) uv.lock | .venv/.runtime
	@echo "Compiling the kernels of a default run (half a minute, once)"
	@$(RUN) -m flows.command.warm_up
	@touch $@

.venv/.all-kernels: $(KERNEL_FILES) uv.lock | .venv/.runtime
	@echo "Compiling all kernels (two minutes, once)"
	@$(RUN) -m flows.command.warm_up all
	@touch $@

.venv/.dev: uv.lock pyproject.toml | $(UV)
	@echo "Installing into .venv what testing needs"
	@$(UV) sync --quiet --frozen --python .tools/bin/python
	@touch .venv/.runtime $@

$(PAGE)/node_modules/.installed: $(PAGE)/package-lock.json
	@cd $(PAGE) && npm ci --silent --no-audit --no-fund
	@touch $@
