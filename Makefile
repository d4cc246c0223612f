# `make` lists what there is. Nothing but Python >= 3.11 and make has to be there; everything else goes into .venv.

PYTHON ?= python3
BIN := .venv/bin
STORE := runs/delta.zarr
PYTEST_ARGS ?=
# Extras that commands need; the others are for work on limbsweep itself.
USED := azure casadi certificates dashboard gcs hdf5 jobqueue kubernetes mujoco netcdf parquet report ros s3 search ssh

.DEFAULT_GOAL := help
.PHONY: help run test test-changed test-slow test-all test-oldest bench bench-page docs pictures wheel bill hashes wheel-test audit clean
.DELETE_ON_ERROR:
# Each process of the tests would compile all modules of Python again.
unexport PYTHONDONTWRITEBYTECODE

help:
	@echo "make run     install into .venv, run examples/delta.yaml, store it in $(STORE), plot runs/delta.png"
	@echo "make test    install into .venv, lint, check types, run the tests"
	@echo "make test-changed  the tests that lie nearest to what differs from main, for a minute"
	@echo "make test-slow  the long tests and campaigns that 'make test' leaves out: all robots, ten seconds of free motion, kill -9"
	@echo "make test-all  every test, also those that need Drake, Exudyn, torch or JAX, which it installs: hours, by schedule"
	@echo "make test-oldest  the tests of 'make test' with the lowest versions that pyproject.toml allows; needs network"
	@echo "make bench   the benchmark cases, with the ratios to other engines"
	@echo "make bench-page  some of them, and the tables of docs/benchmarks.md from their figures"
	@echo "make docs    build the documentation into docs/_build, without network; warnings are errors"
	@echo "make pictures  compute and draw the pictures of the documentation again, and the table of docs/papers.md: minutes"
	@echo "make wheel   build wheel and source distribution into dist; needs the package build alone"
	@echo "make bill    the wheel, and beside it a CycloneDX bill of materials"
	@echo "make hashes  requirements.lock: versions and digests of all that an installation takes; needs network"
	@echo "make audit   ask the Python advisory database about the versions in constraints.txt; needs network"
	@echo "make wheel-test  install the wheel into an empty environment, run the tests of what depends on how it is installed"
	@echo "make clean   remove .venv, runs and caches"

run: .venv/core.stamp
	$(BIN)/limbsweep run examples/delta.yaml --store $(STORE)
	$(BIN)/python examples/plot_delta.py $(STORE) runs/delta.png

# Kernels of a few samples that are compiled once: the same bits, in a seventh of the time. `make test-slow` has those of users.
test test-changed: export LIMBSWEEP_COMPILE = quick

test: .venv/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@mkdir -p build
	$(BIN)/mypy > build/types.txt 2>&1 & types=$$!; \
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal $(PYTEST_ARGS); tests=$$?; \
	wait $$types || { cat build/types.txt; exit 1; }; exit $$tests

test-changed: .venv/test.stamp
	$(BIN)/python -m benchmarks.house.changed $(PYTEST_ARGS)

docs: .venv/docs.stamp
	$(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going --quiet docs docs/_build/html
	@echo "documentation in docs/_build/html/index.html"

pictures: run
	$(BIN)/python docs/make_robots.py
	$(BIN)/python docs/make_figures.py
	$(BIN)/python docs/make_cookbook.py
	$(BIN)/python docs/make_gallery.py
	$(BIN)/python docs/make_identification.py
	$(BIN)/python -m benchmarks.papers --page
	$(BIN)/python -m benchmarks.published --page
	$(BIN)/python examples/plot_delta.py $(STORE) docs/pictures/sweep.png 85

wheel: $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt build
	rm -rf dist
	$(BIN)/python -m build --outdir dist .

# The bill of materials is that of an environment that has the wheel and what it asks for, in the versions of constraints.
bill: wheel .venv/supply.stamp
	rm -rf build/supply
	$(PYTHON) -m venv --without-pip build/supply
	$(BIN)/python -m pip --python build/supply/bin/python install --quiet --disable-pip-version-check \
		--constraint constraints.txt dist/*.whl
	$(BIN)/cyclonedx-py environment --pyproject pyproject.toml --mc-type library --output-reproducible \
		--output-file "$$(ls dist/*.whl | sed 's/-py3.*//').cdx.json" build/supply/bin/python

# The versions of constraints.txt with the digests of their files, of what commands need: for installations that take nothing else.
hashes: .venv/supply.stamp
	$(BIN)/uv pip compile pyproject.toml --constraint constraints.txt --universal --python-version 3.11 --generate-hashes \
		--no-annotate --no-emit-index-url --custom-compile-command 'make hashes' --quiet $(addprefix --extra ,$(USED)) \
		--output-file requirements.lock

# 1 where a version has a known weakness, 2 where the database does not know all of them.
audit: .venv/supply.stamp
	$(BIN)/python -m packing.audit constraints.txt

# A copy of the tests and of the examples that they read, and nothing else of the repository, beside an environment that has
# the wheel. The copy imports what is tested by the names that it has there. All tests are collected, which imports all that
# they import; those are run that can depend on how the package is installed: names of modules as texts, processes of their
# own, files beside modules, what is pickled. `make wheel-test WHEEL_TESTS=tests` runs all that need no repository.
WHEEL_TESTS ?= $(addprefix tests/,bad_inputs hostile benchmarks/test_cases.py pipeline/test_cli.py pipeline/test_schemas.py \
	pipeline/cluster pipeline/execution applications/report/test_accessor.py applications/report/page pipeline/robot_files \
	pipeline/stores applications/identification/test_dataset.py pipeline/sweep/test_objects.py \
	pipeline/sweep/test_user_metrics.py robots/formats robots/test_catalog.py storage/test_package.py storage/test_store.py \
	tasks/kernels applications/identification/estimation/test_base.py tasks/test_bits_of_programs.py)

wheel-test: wheel
	rm -rf build/wheel && mkdir -p build/wheel
	$(PYTHON) -m venv build/wheel/venv
	build/wheel/venv/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		"$$(ls dist/*.whl)[test]"
	cp -r tests examples pyproject.toml build/wheel
	$(PYTHON) -m packing.one_name build/wheel/tests
	cd build/wheel && venv/bin/python -m pytest --collect-only --quiet --quiet
	cd build/wheel && venv/bin/python -m pytest --numprocesses 2 --dist worksteal $(PYTEST_ARGS) $(WHEEL_TESTS)

test-slow: .venv/test.stamp
	$(BIN)/python -m pytest -m "slow or chaos" $(PYTEST_ARGS)

test-all: .venv/all.stamp
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal -m "slow or not slow" $(PYTEST_ARGS)

# Lower bounds are promises: an environment that has these versions is taken as it is by whoever installs limbsweep into it.
test-oldest: export LIMBSWEEP_COMPILE = quick
test-oldest: .venv/supply.stamp
	rm -rf build/oldest && mkdir -p build/oldest
	$(BIN)/uv pip compile pyproject.toml --extra test --resolution lowest-direct --python $(BIN)/python --quiet \
		--output-file build/oldest/versions.txt
	$(PYTHON) -m venv build/oldest/venv
	$(BIN)/uv pip install --quiet --python build/oldest/venv/bin/python --requirement build/oldest/versions.txt --editable .
	build/oldest/venv/bin/python -m pytest --numprocesses 2 --dist worksteal $(PYTEST_ARGS)

bench: .venv/peers.stamp
	$(BIN)/limbsweep bench

bench-page: .venv/peers.stamp
	mkdir -p runs
	$(BIN)/limbsweep bench --json peers robots kernel start > runs/bench.jsonl
	$(BIN)/python docs/make_benchmarks.py runs/bench.jsonl

clean:
	rm -rf .venv runs build dist docs/_build .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "limbsweep needs Python >= 3.11; name one: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 2; }
	$(PYTHON) -m venv .venv

# A stamp for each set of extras, so that a second `make` starts at once and a changed dependency reinstalls.
.venv/core.stamp: EXTRAS :=
.venv/test.stamp: EXTRAS := [test]
.venv/all.stamp: EXTRAS := [test,peers,torch,jax]
.venv/peers.stamp: EXTRAS := [peers]
.venv/docs.stamp: EXTRAS := [docs]
.venv/supply.stamp: EXTRAS := [supply]
.venv/%.stamp: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt --editable ".$(EXTRAS)"
	@touch $@
