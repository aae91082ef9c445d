# Commands on a machine that has Python 3.11+ (with venv) and make:
#   make reproduce  every figure of the paper and a verdict on each of its claims, in runs/; about four minutes
#   make test       everything is checked: style, types, tests
#   make lab        the interactive page, in your browser
#   make docs       the documentation as a site, in site/
#   make bench      this simulator against what one would otherwise run; installs JAX and pymab for it
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# The kernels compiled by the tests stay inside the tree.
export LOGBARRIER_CACHE_DIR ?= $(CURDIR)/.cache/kernels
# Tests start many processes; each would translate the package anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: reproduce test lint types unit bench lab docs clean

reproduce: $(STAMP)
	$(BIN)/logbarrier reproduce $(OPTIONS)

# The types are checked while tests run: one process more than there are workers.
test: lint
	$(MAKE) --jobs 2 types unit

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy --strict

unit: $(STAMP)
	$(BIN)/python -m pytest -n auto --dist worksteal

lab: $(STAMP)
	$(BIN)/logbarrier lab $(OPTIONS)

docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "documentation: site/index.html"

bench: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,bench]'
	$(BIN)/python benchmarks/peers.py
	$(BIN)/python benchmarks/engine.py --long

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("logbarrier needs Python 3.11 or newer, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) .cache build site src/*.egg-info
