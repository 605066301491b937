# The commands of this repository; `make` lists them. Each sets up what it needs first, and only once.

PYTHON ?= python3
BIN := .venv/bin
SECONDS ?= 180
SETUP := @$(PYTHON) scripts/setup.py
QUICK_PROGRAMS := prometheus alertmanager chromium-headless-shell influxdb victoria-metrics opensearch
LONG_PROGRAMS := $(QUICK_PROGRAMS) telegraf influxdb-1.8 otel-collector
LANES := --numprocesses 2 --dist loadscope --no-loadscope-reorder

.DEFAULT_GOAL := help
.PHONY: help setup demo run check test test-long test-module fuzz bench dashboards clean

help:  ## list the commands
	@awk -F ':.*## ' '/^# -- / { printf "\n%s\n", substr($$0, 6) } /^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# -- Use Warren

setup:  ## make .venv with everything Warren needs
	$(SETUP)

demo:  ## a real Kafka with groups in good and bad health, and Warren watching it
	$(SETUP) --kafka 4.3.1
	@exec $(BIN)/warren demo

run:  ## run Warren: make run CONFIG=directory-of-warren.toml
	$(SETUP)
	@test -n "$(CONFIG)" || { echo "make run needs CONFIG=directory" >&2; exit 2; }
	@exec $(BIN)/warren run --config-dir "$(CONFIG)"

# -- While you work on it

check:  ## lint, format and types, in under a minute: before each commit
	$(SETUP) --dev
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy

test-module:  ## one module or test: make test-module TEST=tests/unit/test_rules.py
	$(SETUP) --dev --kafka 4.3.1 3.9.2
	@test -n "$(TEST)" || { echo "make test-module needs TEST=path, or path::test" >&2; exit 2; }
	@exec $(BIN)/python -m pytest $(TEST)

test:  ## everything that CI runs, against real brokers, in under 20 minutes: before each push
	$(SETUP) --dev --kafka 4.3.1 3.9.2 --programs $(QUICK_PROGRAMS)
	@exec $(BIN)/python -m pytest $(LANES)

# -- Before a release, or after a change to the pipeline, a format or a sink

test-long:  ## `make test` and all that is slow: kills, a Spark cluster, fuzzing, thousands of examples; up to 90 minutes
	$(SETUP) --dev --fuzz --kafka 4.3.1 3.9.2 --programs $(LONG_PROGRAMS)
	@exec $(BIN)/python -m pytest $(LANES) --long

fuzz:  ## look for bytes in the offsets topic that break something: make fuzz SECONDS=180
	$(SETUP) --dev --fuzz
	@exec $(BIN)/python -m tests.fuzz --seconds $(SECONDS)

bench:  ## measure speed and memory; on a machine that does nothing else
	$(SETUP) --dev --kafka 4.3.1 --programs wrk
	@exec $(BIN)/python -m benchmarks

# -- Now and then

dashboards:  ## write the JSON of the dashboards again, after a change to dashboards/
	$(SETUP) --dev
	@exec $(BIN)/python -W ignore::DeprecationWarning -m dashboards

clean:  ## remove what was generated here; downloads in the cache stay
	@rm -rf web/node_modules src/warren/serve/static
	@rm -rf .venv .warren .mypy_cache .pytest_cache .ruff_cache .hypothesis .fuzz dist build
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
