# Needs make and Python 3.11 to 3.14, nothing else: every target makes the environment it runs in, once.
# Variables: ARGS="..." is passed on, PYTHON=... chooses the interpreter, UPGRADE=1 lets `make lock` move pins.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.SUFFIXES:
SHELL := /bin/sh

ARGS ?=
UPGRADE ?=
VENV := .venv
MINISTACK_VENV := .venv-ministack
LOCK_VENV := .venv-lock
UV_VERSION := 0.13.9

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1
export PIP_USER := 0

# $(call usable,VENV) is empty unless VENV was finished in this very folder and its interpreter still exists. Scripts in a
# venv carry absolute paths, so one that was moved or copied is made anew.
usable = $(shell test -x $(1)/bin/python && test "$$(cat $(1)/.complete 2>/dev/null)" = '$(CURDIR)' && echo usable)

# $(call install,VENV,LOCK,MESSAGE): .complete is away while pip works, so that a run that was cut short is not trusted:
# the next one starts from an empty venv.
define install
	@echo '$(3)' >&2
	@if [ -z '$(call usable,$(1))' ]; then $(find-python); "$$python" -m venv --clear $(1) || exit 1; fi
	@rm -f $(1)/.complete
	@$(1)/bin/python -m pip install -qq --no-compile --no-deps --require-hashes -r $(2)
	@printf '%s\n' '$(CURDIR)' >$(1)/.complete
	@touch $@
endef

# Leaves the interpreter in $$python: PYTHON, or the first suitable one that can make a venv.
define find-python
python=''; for candidate in $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11 python); do \
	if "$$candidate" -c 'import sys, ensurepip, venv; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 15))' \
		>/dev/null 2>&1; then python="$$candidate"; break; fi; \
done; \
if [ -z "$$python" ]; then \
	echo 'Python 3.11, 3.12, 3.13 or 3.14 with its venv module is needed, and none was found.' >&2; \
	echo 'Install one (on Debian or Ubuntu: apt install python3 python3-venv), or say which: make PYTHON=/path/to/python' >&2; \
	exit 1; \
fi
endef

CORE := $(VENV)/.core
DEV := $(VENV)/.dev
PROJECT := $(VENV)/.project
MINISTACK := $(MINISTACK_VENV)/.installed
LOCK := $(LOCK_VENV)/.installed

# The stamps of a venv that cannot be used count for nothing.
ifeq ($(call usable,$(VENV)),)
$(shell rm -f $(CORE) $(DEV) $(PROJECT))
endif
ifeq ($(call usable,$(MINISTACK_VENV)),)
$(shell rm -f $(MINISTACK))
endif

##@ Use it
.PHONY: demo
demo: $(PROJECT) ## Walk through the service with made-up leads, on this machine alone
	@$(VENV)/bin/leads demo $(ARGS)

.PHONY: serve
serve: $(PROJECT) ## Start the HTTP API and its pages (ARGS="--port 8080")
	@$(VENV)/bin/leads serve $(ARGS)

##@ Work on it
.PHONY: test
test: $(DEV) $(PROJECT) $(MINISTACK) ## Run the tests (ARGS="-k append")
	@$(VENV)/bin/python -m pytest tests -n auto --dist loadscope $(ARGS)

.PHONY: lint
lint: $(DEV) $(PROJECT) ## Check format, style, types and import contracts
	@failed=0; \
	for check in 'ruff format --check .' 'ruff check .' mypy 'lint-imports --no-cache'; do \
		printf '> %s\n' "$$check"; \
		$(VENV)/bin/$$check || failed=1; \
	done; \
	exit $$failed

.PHONY: bench
bench: $(DEV) $(PROJECT) ## Measure it (ARGS go to tests/bench)
	@$(VENV)/bin/python -m tests.bench $(ARGS)

.PHONY: lock
lock: $(LOCK) ## Write the requirements*.lock files anew (UPGRADE=1 moves the pins)
	@for job in \
		'pyproject.toml --group build --output-file requirements.lock' \
		'pyproject.toml --group build --extra dev --constraints requirements.lock --output-file requirements-dev.lock' \
		'requirements-ministack.in --output-file requirements-ministack.lock'; \
	do \
		$(LOCK_VENV)/bin/uv pip compile --quiet $(if $(UPGRADE),--upgrade) --universal --python-version 3.11 \
			--generate-hashes --no-annotate --custom-compile-command 'make lock' $$job || exit 1; \
	done

.PHONY: clean
clean: ## Remove the environments and caches (never your data)
	@rm -rf $(VENV) $(MINISTACK_VENV) $(LOCK_VENV) build dist .pytest_cache .mypy_cache .ruff_cache \
		.import_linter_cache .hypothesis
	@find domain projections adapters handlers tests -type d -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^##@/ { print "\n" substr($$0, 5) } /^[a-z]+:.*## / { printf "  make %-7s %s\n", $$1, $$2 }' Makefile

$(CORE): requirements.lock
	$(call install,$(VENV),$<,Installing dependencies (once$(,) about half a minute)...)

# The development lock holds every pin of the core one, so it serves as both.
$(DEV): requirements-dev.lock
	$(call install,$(VENV),$<,Installing dependencies and development tools (once$(,) about a minute)...)
	@touch $(CORE)

$(PROJECT): pyproject.toml | $(CORE)
	@$(VENV)/bin/python -m pip install -qq --no-compile --no-deps --no-build-isolation --editable .
	@touch $@

$(MINISTACK): requirements-ministack.lock
	$(call install,$(MINISTACK_VENV),$<,Installing ministack$(,) the DynamoDB stand-in of the tests (once$(,) some seconds)...)

$(LOCK): Makefile
	@$(find-python); "$$python" -m venv --clear $(LOCK_VENV) && $(LOCK_VENV)/bin/python -m pip install -qq uv==$(UV_VERSION)
	@touch $@

# A comma inside an argument of a function.
, := ,
