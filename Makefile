# Everything a newcomer runs. `make reports` and `make test` set themselves up; nothing else is needed first.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3.11
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

export PYTHONHASHSEED := 0

.PHONY: help setup reports test check bench fuzz reference lab lock clean

help:  ## this list
	@awk -F':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY)  ## the environment in .venv, with exactly the pins of requirements.lock

# The marker is written last, so an interrupted set-up starts again from nothing.
$(READY): pyproject.toml requirements.lock
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 is needed as '$(PYTHON)'; name another with: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || { echo "'$(PYTHON)' is not Python 3.11; name one with: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements.lock uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode --constraint requirements.lock --editable '.[dev]'
	touch $@

reports: $(READY)  ## execute every study and write reports/index.html
	$(BIN)/evalkit run --all

test: $(READY)  ## all tests
	$(BIN)/python -m pytest -n auto --dist worksteal

check: $(READY)  ## style, notebook hygiene, environment
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/evalkit tidy --check

bench: $(READY)  ## measure speed beside other libraries (nothing passes or fails)
	$(BIN)/python -m tests.bench

fuzz: $(READY)  ## attack the importers for a minute (what breaks them ends it)
	$(BIN)/python tests/bench/_fuzz_importing.py -max_total_time=60

reference: $(READY)  ## recompute data/reference from the real data
	$(BIN)/python -m evalkit.reports.reference

lab: $(READY)  ## open JupyterLab on the notebooks
	$(BIN)/jupyter lab notebooks/start_here.ipynb

lock: $(READY)  ## resolve requirements.lock anew from pyproject.toml
	$(BIN)/uv pip compile --quiet --python-version 3.11.7 --extra dev --no-header --no-annotate \
	  --upgrade pyproject.toml --output-file requirements.lock

clean:  ## remove the environment, generated reports and caches (downloads in data/cache stay)
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis build *.egg-info
	find reports -mindepth 1 ! -name README.md ! -name example.png -delete
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
