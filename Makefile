# Every target makes .venv by itself and reuses it. PYTHON chooses the interpreter (3.11 or newer).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test check bench docs package test-lowest clean
.DELETE_ON_ERROR:

# One stamp per set of extras: `make demo` does not pay for the linters.
$(VENV)/.installed-%: pyproject.toml
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[$*]"
	@touch $@

demo: $(VENV)/.installed-demo,report
	$(BIN)/python -m bursty.demo

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.installed-test
	$(BIN)/python -m benchmarks

docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build/html

# Wheel and sdist, checked, installed into an environment that has nothing else, and used there.
package: $(VENV)/.installed-release
	rm -rf dist build/package
	$(BIN)/python -m build --quiet --installer uv --outdir dist
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist
	$(BIN)/uv venv --quiet --python $(BIN)/python build/package
	$(BIN)/uv pip install --quiet --python build/package "$$(echo dist/*.whl)[report]"
	cd build/package && env -u PYTHONPATH bin/python ../../tests/smoke.py

# The oldest version of every dependency that pyproject.toml allows. These warn about newer Pythons: warnings are no errors.
LOWEST ?= tests/families tests/corpus tests/metrics tests/persistence tests/plot tests/cli/test_results.py tests/models/test_mixture.py
test-lowest: $(VENV)/.installed-release
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python build/lowest
	$(BIN)/uv pip install --quiet --python build/lowest --resolution lowest-direct ".[test]"
	env -u PYTHONPATH build/lowest/bin/python -m pytest -W default $(LOWEST)

clean:
	rm -rf $(VENV) docs/_build dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
