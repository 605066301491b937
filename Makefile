# The commands of this repository; `make` lists them. Each sets up what it needs first, and only once.

PYTHON ?= python3
BIN := .venv/bin
SECONDS ?= 180
SETUP := @$(PYTHON) scripts/setup.py

.DEFAULT_GOAL := help
.PHONY: help setup demo run test chaos fuzz check bench dashboards clean

help:  ## list the commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup:  ## make .venv with everything Warren needs
	$(SETUP)

demo:  ## a real Kafka with groups in good and bad health, and Warren watching it
	$(SETUP) --kafka 4.3.1
	@exec $(BIN)/warren demo

run:  ## run Warren: make run CONFIG=directory-of-warren.toml
	$(SETUP)
	@test -n "$(CONFIG)" || { echo "make run needs CONFIG=directory" >&2; exit 2; }
	@exec $(BIN)/warren run --config-dir "$(CONFIG)"

test:  ## run every test, against real brokers
	$(SETUP) --dev --kafka 4.3.1 3.9.2 --programs telegraf prometheus alertmanager chromium influxdb influxdb-1.8 victoria-metrics otel-collector opensearch
	@PATH="$(CURDIR)/$(BIN):$$PATH" npm --prefix web test
	@$(BIN)/python -m pytest tests/unit tests/property --numprocesses 2 --dist worksteal
	@$(BIN)/python -m pytest tests/spark tests/integration
	@exec $(BIN)/python -m pytest tests/page

chaos:  ## kill it again and again under load, and try examples that no run has tried; takes a quarter of an hour
	$(SETUP) --dev --kafka 4.3.1
	@WARREN_TEST_KILLS=20 exec $(BIN)/python -m pytest tests/integration/test_durability.py tests/property

fuzz:  ## look for bytes in the offsets topic that break something: make fuzz SECONDS=180
	$(SETUP) --dev --fuzz
	@exec $(BIN)/python -m tests.fuzz --seconds $(SECONDS)

check:  ## lint, format and types
	$(SETUP) --dev
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy

bench:  ## measure speed and memory
	$(SETUP) --dev --kafka 4.3.1 --programs wrk
	@exec $(BIN)/python -m benchmarks

dashboards:  ## write the JSON of the dashboards again, after a change to dashboards/
	$(SETUP) --dev
	@exec $(BIN)/python -W ignore::DeprecationWarning -m dashboards

clean:  ## remove what was generated here; downloads in the cache stay
	@rm -rf web/node_modules src/warren/serve/static
	@rm -rf .venv .warren .mypy_cache .pytest_cache .ruff_cache .hypothesis .fuzz dist build
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
