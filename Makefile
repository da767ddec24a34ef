# SPDX-License-Identifier: MIT
# Everything a newcomer or a machine runs. `make` alone lists the verbs.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup demo check house test test-docs test-all integrations bench results docs site tutorials wheel release-check native native-format native-tidy size-plugin \
  native-sanitize torture clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OUTPUT ?= demo-results
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

# Debian packages: to build and run, the oracles that only the tests compare with, and what only
# the checks run.
SYSTEM := bubblewrap g++ cmake ninja-build python3 python3-dev python3-venv llvm-22 llvm-22-dev clang-22 \
  lld-22 libclang-rt-22-dev libzstd-dev zlib1g-dev
ORACLES := bzip2 cargo-web chromium clang-format-22 clang-tidy-22 csmith doctest-dev gcc gcc-11 gcc-12 gcc-avr ghostscript hunspell hunspell-en-us hunspell-tools libcsmith-dev libgsm-tools \
  libjpeg-turbo-progs libtiff-tools mlir-22-tools mpg123 openssl rustc-web sox valgrind

# Processes that compile every module anew, as containers often ask for, take minutes of the tests.
export PYTHONDONTWRITEBYTECODE :=

# Steps of the C++ build, one on a line: pip and uv hide them. UNITY=OFF compiles each source on its
# own, for work on the engine: three times as long at first, but one changed file takes seconds.
STEPS := 2>&1 | sed -uE 's/^(DEBUG )?(\[[0-9]+\/[0-9]+\]) (Building|Linking) CXX [a-z ]*native\/(CMakeFiles\/)?/  \2 \3 /; s/\.dir\/Unity\/unity_([0-9]+)_cxx.cxx.o/, part \1/; /^(DEBUG|TRACE|INFO|WARN|--|\*\*\*) |^ [-+~] /{/warning:/!d}'
UNITY_OPTION = $(if $(UNITY),-C cmake.define.COMPILER_GYM_UNITY=$(UNITY))

# Where the package was built: the C++ tests link the engine that is there already.
ENGINE = build/$(shell $(BIN)/python -c 'import sys; print(sys.implementation.cache_tag)')
NATIVE := CMakeLists.txt $(shell find cmake native -name '*.cpp' -o -name '*.h' -o -name '*.txt' -o -name '*.cmake')

help: ## List the verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' Makefile

setup: $(BIN)/.installed ## Install system packages, a virtual environment and this package
	@echo "Ready: $(BIN)/compiler-gym --help"

demo: setup ## Tune a small project; then search for a minute for passes that beat -Oz
	@if command -v ld.lld-22 >/dev/null || command -v ld.lld >/dev/null; then \
	  echo "A project of $$(ls programs/gsm/*.c | wc -l) sources, a speech coder, tuned for size:"; \
	  rm -rf $(OUTPUT)/tuned; compiler_gym="$$PWD/$(BIN)/compiler-gym"; output="$$(realpath -m $(OUTPUT)/tuned)"; \
	  cd programs/gsm && "$$compiler_gym" tune --time 30 --output "$$output" -- sh -c '$${CC:-cc} -Oz *.c -o gsm'; \
	else echo "Not tuned: expected lld to link a project with: apt install lld-22"; fi
	@echo; echo "And now eight programs, a minute, and passes alone:"
	@mkdir -p $(OUTPUT) && $(BIN)/compiler-gym search --time 60s --output $(OUTPUT)/found.json \
	  $(addprefix cbench-v1/,adpcm bitcount blowfish crc32 dijkstra qsort sha stringsearch)

check: $(BIN)/.tested native-format ## Format, lint, types, layers, English
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/python -m scripts.prose

house: ## Print the rooms of the source, their sizes and the ten largest
	@$(BIN)/python -m tests.architecture.house

# Tests wait for processes that they have started: with three of them two cores are seldom idle.
# FILE, TOOL or PACKAGE narrow it down to what a change affects, by the import graph.
# Otherwise what has not changed since its tests passed is omitted (tests/proven.py).
CHANGED = $(FILE) $(if $(TOOL),src/compiler_gym/tools/$(TOOL) tests/tools/$(TOOL)) $(if $(PACKAGE),packages/$(PACKAGE))
test: $(BIN)/.tested ## Run the fast test suite, or with FILE=path, TOOL=tune or PACKAGE=gcc the part that a change affects
	@$(if $(strip $(CHANGED)),chosen=$$($(BIN)/python -m scripts.affected $(CHANGED)),chosen=; export TEST_EFFORT=changed); \
	$(BIN)/python -m pytest -n 3 --dist worksteal $(if $(DURATIONS),--durations=$(DURATIONS)) $${chosen:+-m "not slow"} $$chosen

test-docs: $(BIN)/.tested ## Run the code of the pages that changed, compare generated pages and build the site
	TEST_EFFORT=changed $(BIN)/python -m pytest -n 3 --dist worksteal -m "docs and not slow" tests/docs

test-all: $(BIN)/.tested native ## Run every test, the slow ones too, and the C++ tests
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --group learn
	TEST_EFFORT=full $(BIN)/python -m pytest -n 2 --dist worksteal -m "slow or not slow" --timeout 3600

# Many of these libraries need versions that exclude each other.
integrations: $(BIN)/.tested ## Try the newest release of each library on our pages, each in a separate environment; ONLY="trl minari" chooses
	$(BIN)/python -m scripts.integrations $(ONLY)

bench: $(BIN)/.tested ## Measure speed and print it beside the raw engine
	$(BIN)/python -m benchmarks

results: $(BIN)/.tested ## Compare ways to find passes: SMALL=1 takes ten minutes, RAY=1 uses a cluster, LARGE="lua sqlite3" adds them; resumes
	@$(BIN)/uv pip install --quiet --python $(BIN)/python -r pyproject.toml --extra rl $(if $(RAY),--extra ray)
	$(BIN)/python -m benchmarks.methods --write $(if $(SMALL),--small) $(LARGE:%=--large %) $(if $(RAY),--ray)

docs: $(BIN)/.tested ## Generate the reference pages under docs/reference/
	$(BIN)/python -m docs.generate

site: $(BIN)/.installed ## Build the site of the pages into site/, with a search; a folder per release
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --group docs
	$(BIN)/python -m docs.site

tutorials: $(BIN)/.tested ## Run the tutorials again and keep their results; needs gigabytes and minutes
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --group tutorials
	$(BIN)/python -m docs.tutorials

wheel: $(BIN)/.building ## Build wheels that need no LLVM, into dist/: the library, and its just-in-time compiler
	@echo "Building: about two minutes on two idle cores, 1.3 GB of memory for each and 250 MB of disk"
	@rm -f dist/*.whl
	@PATH="$(abspath $(BIN)):$$PATH" $(BIN)/uv build --verbose --wheel --no-build-isolation --python $(BIN)/python --out-dir dist \
	  -C cmake.define.COMPILER_GYM_JIT=OFF -C build-dir=build/wheel $(STEPS)
	@PATH="$(abspath $(BIN)):$$PATH" $(BIN)/uv build --verbose --wheel --no-build-isolation --python $(BIN)/python --out-dir dist \
	  -C cmake.define.COMPILER_GYM_SORT=OFF scripts/release/jit_wheel $(STEPS)

release-check: $(BIN)/.tested ## Build the source archive and wheels, try them where nothing else is, check what a release has
	@{ command -v advzip && command -v debootstrap; } >/dev/null || $(SUDO) apt-get install -y -qq --no-install-recommends advancecomp debootstrap >/dev/null
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --group release
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m scripts.release check

native: $(BIN)/.tested ## Build and run the C++ tests
	cmake -S . -B $(ENGINE) -DCOMPILER_GYM_TESTS=ON
	cmake --build $(ENGINE) -j2
	ctest --test-dir $(ENGINE) --output-on-failure -j2

# Tests of other people, which need an hour: they are fetched from Debian into build/torture.
torture: $(BIN)/.tested ## Run GCC 12's own run tests through the policy and the recipe; FOLDERS="gcc.dg g++.dg" and WAYS="policy recipe tune" choose; resumes
	$(BIN)/python -m scripts.torture $(FOLDERS) $(WAYS:%=--way %)

size-plugin: $(BIN)/.system ## Build the size plug-in for clang-22 and ld.lld-22, into build/size/native/linker/
	@cmake -S . -B build/size -G Ninja -DCOMPILER_GYM_PYTHON=OFF -DCOMPILER_GYM_JIT=OFF >/dev/null
	cmake --build build/size --target compiler_gym_size

native-format: $(BIN)/.tested ## Compare the C++ files with .clang-format
	clang-format-22 --dry-run --Werror $(filter %.cpp %.h,$(NATIVE))

native-tidy: $(BIN)/.tested ## Look for mistakes in the C++ files with clang-tidy, for minutes
	PATH="$(abspath $(BIN)):$$PATH" cmake -S . -B build/native -G Ninja -DPython_EXECUTABLE=$(abspath $(BIN))/python \
	  -DCOMPILER_GYM_TESTS=ON -DCOMPILER_GYM_UNITY=OFF -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON
	run-clang-tidy-22 -p build/native -j2 -quiet 'native/(src|tests|python)/'

# LLVM's archives are not built with sanitizers. What they allocate in a container of the standard
# library looks like an overflow to code that is, so that one check is off. What a fatal error of
# LLVM leaves behind is leaked on purpose, so leaks of the engine are not looked for.
native-sanitize: $(BIN)/.tested ## Run the C++ tests with address and undefined-behaviour sanitizers
	cmake -S . -B build/sanitize -G Ninja -DCMAKE_BUILD_TYPE=None \
	  -DCOMPILER_GYM_PYTHON=OFF -DCOMPILER_GYM_TESTS=ON -DCOMPILER_GYM_SANITIZE=ON
	cmake --build build/sanitize -j2
	ASAN_OPTIONS=detect_container_overflow=0:detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
	  ctest --test-dir build/sanitize --output-on-failure

clean: ## Remove everything that was built
	rm -rf build dist $(VENV) .venv-integrations .pytest_cache .ruff_cache .hypothesis demo-results

# -- how --------------------------------------------------------------------------------------

$(BIN)/.system: Makefile
	@missing=""; for package in $(SYSTEM); do \
	  dpkg-query -W -f '$${Status}' $$package 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$package"; \
	done; if [ -n "$$missing" ]; then \
	  echo "Installing, about 1 GB of disk in all:$$missing"; $(SUDO) apt-get update -qq; \
	  DEBIAN_FRONTEND=noninteractive $(SUDO) apt-get install -y -qq --no-install-recommends $$missing >/dev/null; \
	fi
	@[ -x $(BIN)/python ] || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@touch $@

$(BIN)/.building: $(BIN)/.system pyproject.toml
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --group build
	@touch $@

$(BIN)/.installed: $(BIN)/.building $(NATIVE)
	@echo "Building: about two minutes on two idle cores, 1.3 GB of memory for each and 130 MB of disk"
	@$(BIN)/uv pip uninstall --quiet --python $(BIN)/python compiler_gym  # this library's name before
	@PATH="$(abspath $(BIN)):$$PATH" $(BIN)/uv pip install --verbose --python $(BIN)/python --no-build-isolation $(UNITY_OPTION) -e '.[plot]' $(STEPS)
	@touch $@

# Downloading and unpacking needs little of a processor: `make -j2` does it beside the compilation.
$(BIN)/.oracles: $(BIN)/.system
	@missing=""; for package in $(ORACLES); do \
	  dpkg-query -W -f '$${Status}' $$package 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$package"; \
	done; if [ -n "$$missing" ]; then \
	  echo "Installing$$missing"; $(SUDO) apt-get update -qq; \
	  DEBIAN_FRONTEND=noninteractive $(SUDO) apt-get install -y -qq --no-install-recommends $$missing >/dev/null; \
	fi
	@touch $@

$(BIN)/.tested: $(BIN)/.installed $(BIN)/.oracles
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --group test --group check
	@touch $@
