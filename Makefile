# Every target sets up what it needs: only Python 3.11 or newer and make are assumed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := $(VENV)/.demo
READY := $(VENV)/.ready
LOWEST := .venv-lowest

.PHONY: help demo test test-extras test-lowest lint format check bench clean

help:
	@echo "make demo    the whole loop on an embedded data set; writes demo-report/index.html"
	@echo "make test    all tests"
	@echo "make test-extras  every extra, installed alone from the built wheel"
	@echo "make test-lowest  tests of files and scoring with the lowest versions that pyproject.toml allows"
	@echo "make lint    format, lint, types, import layers"
	@echo "make check   lint, then test"
	@echo "make bench   speed and memory benchmarks; DATA=FOLDER times ADBench's own thyroid"
	@echo "make format  rewrite the code in the project's format"

$(DEMO): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "Python 3.11 or newer is needed"'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[report]'
	touch $@

$(READY): $(DEMO) bench/pyproject.toml
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[flows,export,serve,label,postgres,ray,tables,dev]' --editable bench
	$(BIN)/python -c 'import torch; v = torch.__version__; assert v.split("+")[0] == "2.13.0", v'
	touch $@

$(LOWEST)/.ready: pyproject.toml constraints.txt .ci/lowest_versions.py
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python .ci/lowest_versions.py > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m pip install --quiet --constraint $(LOWEST)/constraints.txt --editable '.[tables]' hypothesis pandas polars pytest
	touch $@

demo: $(DEMO)
	$(BIN)/imboost demo --out demo-report

test: $(READY)
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile

test-extras:
	$(PYTHON) .ci/test_extras.py

test-lowest: $(LOWEST)/.ready
	PYTHONPATH=bench/src $(LOWEST)/bin/python -m pytest -W ignore::DeprecationWarning -W ignore::FutureWarning \
	    tests/tables tests/scoring/test_pipeline.py tests/scoring/test_table_writers.py \
	    tests/scoring/test_drift.py tests/scoring/test_row_selection.py

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

check: lint test

bench: $(READY)
	$(BIN)/python -m imboost_bench.speed.training_speed $(DATA)
	$(BIN)/python -m imboost_bench.speed.stack_speed

clean:
	rm -rf $(VENV) $(LOWEST) demo-report build dist
