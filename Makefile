# Every target makes .venv and installs what it needs first.
PYTHON ?= python3
BIN := .venv/bin
JOBS ?= 2
LIGHT = $(shell $(BIN)/python -c "import onnx; print(onnx.__path__[0])")/backend/test/data/light

# Compiled modules are kept: else every process that a test starts compiles the whole package, over two seconds of it.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: install demo test slow check lint bench docs clean

install: .venv/.installed

.venv/.installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed") if sys.version_info < (3, 11) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

# Compile light_squeezenet for edge16, simulate it, compare with the output that the onnx wheel ships.
demo: install
	$(BIN)/tilewright run $(LIGHT)/light_squeezenet.onnx --target edge16 \
		--expect $(LIGHT)/light_squeezenet_output_0.pb -o out/demo

# Kernels first, each once: the workers would each compile all of them.
test: install
	$(BIN)/python test/compile_kernels.py
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal

# The big networks: minutes of work, gigabytes of memory.
slow: install
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m slow

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --threads $(JOBS)

check: lint test

bench: install
	$(BIN)/python bench/speed.py
	$(BIN)/python bench/growth.py
	$(BIN)/python bench/price_models.py
	$(BIN)/python bench/fusion_costs.py
	$(BIN)/python bench/dram_moves.py
	$(BIN)/python bench/noc_speed.py

# The documentation's site, build/site/index.html; every link leads somewhere.
docs: install
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	$(BIN)/python tools/make_site.py build/docs
	$(BIN)/python -m mkdocs build --strict --quiet

clean:
	rm -rf build out .pytest_cache .ruff_cache .hypothesis
