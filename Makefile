# make run    compile, run and check the kernels of examples/, and run the scripts of examples/library/ (PICTURES=folder keeps what they draw)
# make test   lint, types, and the whole test suite on the installed wheel
# make fuzz   random programs against NumPy until one fails: N=100000 how many, SEED=7 which, KEEP=1 go on after a failure
# make accuracy   measure the mathematical functions and write docs/accuracy.md; it needs gcc. An hour or two for all:
#                 FUNCTIONS="exp log" POINTS=100000000 JOBS=2 choose; QUICK=1 takes few points and writes nothing
# make bench  measure Weft beside NumPy, numexpr, Numba, JAX and torch.compile, and write docs/performance.md: an hour or two
# make test-browser  open the explorer page in headless Chromium and a notebook in Jupyter, and look at what they do
# make docs   run the examples of all pages and build the site in build/docs/html; a broken link or example fails
# make reliability  try what could break Weft, at full scale, and write docs/reliability.md: hours; SCALE=0.01 takes fewer tries
# make test-arm  run kernels, a C library and the tests of calls on AArch64 under qemu: Debian, ten minutes; it needs apt-get
# make scale  run the tests and the examples on dask: a cluster of local processes, zarr and xarray
# The others need nothing but Python 3.11 or later: they make .venv and install what they use.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find api backends frontend ir passes runtime -type f -not -path '*/__pycache__/*') pyproject.toml README.md
LINTED := api backends benchmarks examples frontend ir passes runtime tests

POINTS ?= 100000000
JOBS ?= 1

N ?= 10000

.PHONY: accuracy bench docs fuzz reliability run scale test-arm test-browser test lint types suite wheel clean

run: $(VENV)/installed
	$(BIN)/python examples/run.py $(if $(PICTURES),--pictures $(PICTURES))

# The types are checked beside the tests: mypy needs one core, and the tests are two processes that wait now and then.
test: $(VENV)/installed-tests lint
	$(MAKE) --no-print-directory -j 2 types suite

accuracy: $(VENV)/installed-tests
	$(BIN)/python -m benchmarks.accuracy $(FUNCTIONS) --points $(POINTS) --jobs $(JOBS) $(if $(QUICK),--quick)

fuzz: $(VENV)/installed-tests
	$(BIN)/python -m tests.programs.fuzz 2000 $(SEED)
	$(BIN)/python -m tests.scale.fuzz 1000 $(SEED)
	$(BIN)/python -m tests.fuzz --count $(N) --jobs $(shell nproc) $(if $(SEED),--seed $(SEED)) $(if $(KEEP),--keep)

reliability: $(VENV)/installed-tests
	$(BIN)/python -m tests.reliability --write --scale $(or $(SCALE),1)

# The peers have an environment of their own: nothing else here needs them.
bench: $(VENV)/installed
	mkdir -p build/bench
	$(PYTHON) -m venv build/bench/venv
	build/bench/venv/bin/python -m pip install --quiet "weft[bench] @ file://$(CURDIR)/$$(ls dist/weft-*.whl)"
	build/bench/venv/bin/python -m pip install --quiet --force-reinstall --no-deps dist/weft-*.whl
	build/bench/venv/bin/weft bench --peers --json build/bench/all.json
	build/bench/venv/bin/weft bench --peers --threads 1 --json build/bench/one.json
	build/bench/venv/bin/weft bench --read build/bench/all.json --read build/bench/one.json \
		--markdown docs/performance.md --plot docs/performance.svg

# dask and its friends have an environment of their own: nothing else here needs them.
scale: $(VENV)/installed
	mkdir -p build/scale
	$(PYTHON) -m venv build/scale/venv
	build/scale/venv/bin/python -m pip install --quiet "weft[dask] @ file://$(CURDIR)/$$(ls dist/weft-*.whl)" \
		pytest hypothesis zarr xarray
	build/scale/venv/bin/python -m pip install --quiet --force-reinstall --no-deps dist/weft-*.whl
	build/scale/venv/bin/python -m pytest -W default tests/scale/on_dask.py
	build/scale/venv/bin/python examples/scale/standardize.py
	build/scale/venv/bin/python examples/scale/softmax.py

# The generator has an environment of its own: nothing else here needs it. The pictures of the gallery are made again.
docs: $(VENV)/installed
	mkdir -p build/docs
	$(PYTHON) -m venv build/docs/venv
	build/docs/venv/bin/python -m pip install --quiet "weft[blas,dask] @ file://$(CURDIR)/$$(ls dist/weft-*.whl)" \
		"sphinx>=8" "myst-parser>=4" furo matplotlib pandas
	build/docs/venv/bin/python -m pip install --quiet --force-reinstall --no-deps dist/weft-*.whl
	PICTURES=1 build/docs/venv/bin/python -m sphinx -q -W --keep-going -b html docs build/docs/html
	@echo "build/docs/html/index.html"

# Playwright drives the system's Chromium, or one that it downloads, or Debian's, whichever can be had.
test-browser: $(VENV)/installed
	mkdir -p build/browser
	$(PYTHON) -m venv build/browser/venv
	build/browser/venv/bin/python -m pip install --quiet "weft @ file://$(CURDIR)/$$(ls dist/weft-*.whl)" \
		pytest playwright ipykernel nbclient
	build/browser/venv/bin/python -m pip install --quiet --force-reinstall --no-deps dist/weft-*.whl
	command -v chromium || command -v google-chrome || build/browser/venv/bin/python -m playwright install chromium \
		|| apt-get install --yes --no-install-recommends chromium
	build/browser/venv/bin/python -m pytest --noconftest -W default \
		tests/browser/explorer_in_chromium.py tests/browser/notebook_in_jupyter.py

# Python for AArch64 comes from Debian's packages, unpacked in build/arm; qemu and the cross compiler are installed.
test-arm: $(VENV)/installed-tests
	$(BIN)/python -m tests.arm

lint: $(VENV)/installed-tests
	$(BIN)/ruff check $(LINTED)
	$(BIN)/ruff format --check $(LINTED)

types: $(VENV)/installed-tests
	$(BIN)/python -m mypy --strict -p weft
	$(BIN)/python -m mypy --strict tests/typing/user.py

suite: $(VENV)/installed-tests
	$(BIN)/python -m pytest -n 2 --dist worksteal tests

$(VENV)/made:
	$(PYTHON) -m venv $(VENV)
	touch $@

# A wheel is built and installed, never the source tree: a package missing from pyproject.toml fails here. Both cores
# write bytecode once everything is there, which pip would do on one; a process that starts weft must not do it.
$(VENV)/wheel: $(VENV)/made $(SOURCES)
	rm -rf build/lib dist
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	$(BIN)/python -m pip install --quiet --no-compile --force-reinstall --no-deps dist/weft-*.whl
	touch $@

$(VENV)/installed $(VENV)/installed-tests: $(VENV)/wheel
	$(BIN)/python -m pip install --quiet --no-compile \
		"weft$(if $(findstring tests,$@),[test]) @ file://$(CURDIR)/$$(ls dist/weft-*.whl)"
	$(BIN)/python -m compileall -q -j 0 -x '/(tests|pip|mypy|pygments)/' $(VENV)/lib
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info
