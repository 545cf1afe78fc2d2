# Every target sets up what it needs in .venv first. Needs python3 >= 3.11, make and git.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2
# Tests start hundreds of processes: without bytecode each would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test test-browser docs suite check lint typed types conformance bench bench-gpu golden-update clean

## help: what can be made
help:
	@sed -n 's/^## //p' Makefile

## demo: compile, check, interpret and (with a GPU) launch examples/gemm_sm80.mlir
demo: $(VENV)/demo.stamp
	$(BIN)/python examples/demo.py

## test: lint, types, pytest and lit; a missing ptxas is an error
test: lint typed
	$(MAKE) --no-print-directory -j2 -o typed types suite

# lit's first process compiles the package to bytecode; the workers of pytest would do so each.
# The workers take the cores: threads of BLAS would only spin beside them.
suite: export OPENBLAS_NUM_THREADS := 1
suite: $(VENV)/test.stamp
	$(BIN)/lit -j $(JOBS) tests/filecheck
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal

## test-browser: the playground, reports, the documentation, and traces in Perfetto, in headless
## Chromium; completion in bash, zsh and fish; needs Debian's chromium, chromium-driver, zsh and fish
test-browser: $(VENV)/browser.stamp
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile $(patsubst %,tests/browser/%.py,playground report site perfetto shells)

## docs: the documentation site, in build/site
docs: $(VENV)/docs.stamp
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

## check: lint and types, no GPU, under a minute
check: lint types

lint: $(VENV)/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# Type checkers do not follow [tool.setuptools.package-dir]: check the tree as installed.
typed: $(VENV)/test.stamp
	rm -rf build/typed
	mkdir -p build/typed
	cp -R tilewright build/typed
	cp -R dialects passes lowering tools build/typed/tilewright

types: typed
	# Much of its memory is short-lived: a larger young generation, fewer collections.
	NODE_OPTIONS=--max-semi-space-size=64 $(BIN)/pyright -p pyrightconfig.json

## conformance: the verifier against ptxas on every tensor-core instruction, half an hour; the laws
## of layouts on many examples; every case of which `make test` has a sample; native code in place of NumPy
conformance: $(VENV)/test.stamp
	$(BIN)/tilewright conformance lattice --jobs $(JOBS)
	$(BIN)/python -m pytest -n $(JOBS) --hypothesis-profile=thorough tests/dialects/cute tests/lowering/test_cute_to_base.py
	TILEWRIGHT_THOROUGH=1 $(BIN)/python -m pytest -n $(JOBS)
	$(BIN)/python -m pytest -n $(JOBS) --engine compiled tests/lowering/interpreter tests/lowering/test_levels_agree.py tests/silicon

## bench: speed against the peers, as ratios
bench: $(VENV)/bench.stamp
	$(BIN)/python benchmarks/run.py

## bench-gpu: speed of the kernels, needs a GPU; CUTILE_CASES, a folder that `benchmarks/cutile_gpu.py
## --prepare` made, adds cuTile's samples beside tileiras and the libraries
bench-gpu: $(VENV)/bench-gpu.stamp
	$(BIN)/python benchmarks/gemm_gpu.py
	$(if $(CUTILE_CASES),$(BIN)/python benchmarks/cutile_gpu.py $(CUTILE_CASES))

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "python3 >= 3.11 is needed")'
	$(PYTHON) -m venv $(VENV)

# Of the packages' 80 MB of Python most is never imported: what is, is compiled then.
$(VENV)/%.stamp: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-compile -e '.[$*]'
	touch $@

## golden-update: rewrite the CHECK lines and the reference pages that come from the code
golden-update: $(VENV)/test.stamp
	$(BIN)/python tests/filecheck/update_checks.py $$(grep -rlE '^// CHECKS: (all|instructions)' tests/filecheck --include='*.mlir')
	$(BIN)/python docs/generate.py

clean:
	rm -rf build dist *.egg-info .pytest_cache .ruff_cache .hypothesis tests/filecheck/Output
