# Everything a newcomer runs. `make reports` and `make test` set themselves up; nothing else is needed first.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= $(firstword $(foreach minor,11 12 13 14,$(shell command -v python3.$(minor))))
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

export PYTHONHASHSEED := 0
# Tests and reports start dozens of processes that import the same: bytecode is kept, whatever the environment says.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help setup reports test test-nightly freeze frozen check docs wheel bench fuzz reference lab lock clean

help:  ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY)  ## the environment in .venv, with exactly the pins of requirements.lock

# The marker is written last, so an interrupted set-up starts again from nothing.
$(READY): pyproject.toml requirements.lock
	@'$(PYTHON)' -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	  || { echo "Python 3.11 or newer is needed, and '$(PYTHON)' is none; name one with: make PYTHON=/path/to/python3" >&2; exit 1; }
	rm -rf $(VENV)
	'$(PYTHON)' -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements.lock uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode --constraint requirements.lock --editable '.[dev]'
	touch $@

reports: $(READY)  ## execute every study and write reports/index.html
	$(BIN)/evalkit run --all --out reports

test: $(READY)  ## the tests of a few minutes; with SLOW=1 what CI runs, too, in one go
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not nightly$(if $(SLOW),, and not slow)"

test-nightly: $(READY)  ## what repeats those: every study simulated and in JupyterLab, every page, every door
	$(BIN)/python -m pytest -n auto --dist worksteal -m nightly
	$(MAKE) fuzz COUNT=1000

frozen: $(READY)  ## compare what is computed now with what was frozen: imports, studies, campaigns, commands
	$(BIN)/python -m tests.frozen compare

freeze: $(READY)  ## freeze what is not frozen yet; TABLE=part/name/table: that one anew, with a reason in changes.toml
	$(BIN)/python -m tests.frozen freeze $(if $(TABLE),'$(TABLE)')

check: $(READY)  ## style, layers, types, notebook hygiene
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/mypy
	$(BIN)/evalkit tidy --check

docs: $(READY)  ## an API reference without a network, in reports/api, linked from the index
	$(BIN)/python -c 'import pathlib, evalkit, pdoc; [getattr(evalkit, name) for name in evalkit.__all__]; \
	  pdoc.pdoc("evalkit", output_directory=pathlib.Path("reports/api"))'
	$(BIN)/python -m evalkit.reports.index

wheel: $(READY)  ## dist/evalkit-VERSION-py3-none-any.whl, which installs anywhere
	$(BIN)/uv build --quiet --wheel --no-build-isolation --python $(BIN)/python --out-dir dist

bench: $(READY)  ## measure speed beside other libraries (nothing passes or fails)
	$(BIN)/python -m tests.bench

fuzz: $(READY)  ## attack the doors of imports with COUNT spoilt inputs each (1000: a few minutes)
	EVALKIT_FUZZ_COUNT=$(or $(COUNT),1000) EVALKIT_FUZZ_FIRST=$(or $(FIRST),0) $(BIN)/python -m pytest -n auto \
	  tests/test_data_importing_exact.py -k spoilt_input -o faulthandler_timeout=300

reference: $(READY)  ## recompute data/reference from the real data
	$(BIN)/python -m evalkit.reports.reference

lab: $(READY)  ## open JupyterLab on the notebooks
	$(BIN)/jupyter lab '--LabApp.default_url=/lab/tree/notebooks/start_here.ipynb?file-browser-path=/'

lock: $(READY)  ## resolve requirements.lock anew from pyproject.toml, for all Pythons and systems at once
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11.0 --extra dev --no-header --no-annotate \
	  --upgrade pyproject.toml --output-file requirements.lock

clean:  ## remove the environment, generated reports and caches (downloads in data/cache stay)
	rm -rf $(VENV) .pytest_cache .ruff_cache .mypy_cache .hypothesis build dist student *.egg-info
	find reports -mindepth 1 ! -name README.md ! -name example.png -delete
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
