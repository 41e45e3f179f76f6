# Every target makes .venv by itself and reuses it. PYTHON chooses the interpreter (3.11 or newer).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test check bench bench-full bench-topics docs links package test-lowest clean
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
	$(BIN)/python -m pytest -n 2 --dist worksteal

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Other libraries, pinned, in an environment of their own.
.venv-bench/.installed: benchmarks/requirements.txt pyproject.toml
	@test -d .venv-bench || $(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --editable ".[report]" --requirement benchmarks/requirements.txt
	@touch $@

bench: .venv-bench/.installed
	.venv-bench/bin/python -m benchmarks.peers --short

bench-full: .venv-bench/.installed
	.venv-bench/bin/python -m benchmarks.peers
	.venv-bench/bin/python -m benchmarks

# The tables of docs/benchmarks/topics.md. Fits that the file has are not made again.
bench-topics: .venv-bench/.installed
	.venv-bench/bin/python -m benchmarks.topics_quality --seeds 3 --out benchmarks/results/topics_quality.json

docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build/html

# Links to other people's pages, which come and go.
links: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -q -b linkcheck -D sphinx_gallery_conf.plot_gallery=False docs docs/_build/links

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
LOWEST ?= tests/corpus/test_texts.py tests/corpus/test_read_texts.py tests/metrics tests/persistence/test_persistence.py tests/plot
test-lowest: $(VENV)/.installed-release
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python build/lowest
	$(BIN)/uv pip install --quiet --python build/lowest --resolution lowest-direct ".[test]"
	env -u PYTHONPATH build/lowest/bin/python -m pytest -W default $(LOWEST)

clean:
	rm -rf $(VENV) .venv-bench docs/_build docs/auto_examples docs/api/generated docs/benchmarks/generated docs/_static/examples dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
