# Everything a newcomer needs. Each target sets up what it uses.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: install demo test test-contracts test-rest check lint bench hub conformance clients org-oracle retrieval neighbours lock clean

install: $(STAMP) ## set up .venv; gives .venv/bin/bookwheel

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	@$(PYTHON) -m venv .venv >/dev/null 2>&1 || { \
	  echo "Python's venv module is missing: installing it"; \
	  apt-get update -qq && apt-get install -y -qq python3-venv && rm -rf .venv && $(PYTHON) -m venv .venv; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

demo: install ## hold a conversation with the server over the sample library
	$(BIN)/python examples/demo.py

test: install ## run the tests, in two halves at once
	@$(MAKE) --no-print-directory -j2 --output-sync=line test-contracts test-rest

test-contracts: install
	$(BIN)/python -m pytest tests/contracts -o cache_dir=.pytest_cache/contracts

test-rest: install
	$(BIN)/python -m pytest --ignore tests/contracts -o cache_dir=.pytest_cache/rest

check: lint test ## all that CI runs

lint: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

hub: ## test the models of the extra `hub`, in an environment of their own
	@test -d .venv-hub || $(PYTHON) -m venv .venv-hub
	.venv-hub/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[hub]' pytest pytest-timeout
	.venv-hub/bin/python -m pytest tests/index/test_hub.py

conformance: install .conformance/.installed ## run the protocol's own conformance suite, and write docs/conformance.md
	$(BIN)/python tests/conformance/run.py

.conformance/.installed: tests/conformance/package.json tests/conformance/package-lock.json
	@mkdir -p .conformance
	@cp $^ .conformance
	npm ci --prefix .conformance --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

clients: install ## let clients that others wrote use the real program over every transport (needs npm)
	PYTHONPATH=tests $(BIN)/python -m clients.run

org-oracle: install ## compare the golden files of Org with Org 9.7.29 itself; WRITE=1 makes them anew (installs Emacs by apt)
	$(BIN)/python tests/org/oracle/compare.py $(if $(WRITE),--write)

bench: install .venv-markitdown ## print what we claim, measured now (a missed limit is shown, and does not stop the rest)
	-$(BIN)/python benchmarks/ground.py
	-$(BIN)/python benchmarks/search.py --sections 10000
	-$(BIN)/python benchmarks/serving.py
	-$(BIN)/python benchmarks/conversion.py
	-$(BIN)/python benchmarks/ingest.py
	-$(BIN)/python benchmarks/org.py

.venv-markitdown: # the peer of conversion.py; without it the benchmark leaves its column empty
	-$(PYTHON) -m venv $@ && $@/bin/python -m pip install --quiet --disable-pip-version-check \
	  'markitdown[pdf,docx,pptx,xlsx,xls,outlook]' || rm -rf $@

retrieval: install ## how well search finds, on test collections (the first run embeds for minutes)
	$(BIN)/python benchmarks/retrieval.py --cache .retrieval

neighbours: install ## how search by meaning does among many vectors (the first run embeds for minutes)
	$(BIN)/python benchmarks/neighbours.py --cache .neighbours

lock: ## pin every dependency anew
	uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-header --no-annotate --quiet --output-file requirements.lock

clean:
	rm -rf .venv .venv-hub .venv-markitdown .conformance .clients .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
