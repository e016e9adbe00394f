# Every target does its own set-up. PYTHON=/path/to/python3 chooses the interpreter, PYTEST_ARGS adds to pytest's arguments.

.DEFAULT_GOAL := help
.PHONY: help setup base demo test test-deep serve lint types lock schema clean

PYTHON ?=
PYTEST_ARGS ?=
RUN := .venv/bin/python -m
export PYTHON
# Compiled modules are kept: without them every process that a test starts compiles all of its imports anew.
unexport PYTHONDONTWRITEBYTECODE

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

setup: ## Make .venv with all that running and testing need
	@.ci/setup dev

base:
	@.ci/setup base

demo: base ## Read the example conversations and show what can be asked of them
	@$(RUN) api.demo

serve: base ## Serve GraphQL on http://127.0.0.1:8000/graphql
	@.venv/bin/erstwhile serve

test: lint types ## Lint, types and tests
	@$(RUN) pytest -q -n 2 --dist loadfile -m "not deep" $(PYTEST_ARGS)

test-deep: setup ## The tests that take longer
	@$(RUN) pytest -q -n 2 --dist loadfile -m deep $(PYTEST_ARGS)

lint: setup ## Style, format and the order of imports
	@$(RUN) ruff check --quiet .
	@$(RUN) ruff format --check --quiet .
	@.venv/bin/lint-imports --no-cache --no-logo

types: setup ## Types
	@$(RUN) mypy --no-error-summary

schema: base ## Write schema.graphql anew from the code
	@$(RUN) api.schema.export

lock: ## Pin the requirements anew (LOCK=--upgrade takes newer versions)
	@.ci/lock $(LOCK)

clean: ## Remove the environment, caches and what was built
	rm -rf .venv build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
