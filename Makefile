# Ordeal. `make help` lists the verbs; each folder's own rules are in its build.mk.

BUILD  ?= build
PYTHON ?= /usr/bin/python3
CC     ?= cc
OPT    ?= -O2 -g
WARN   := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
CFLAGS := -std=c17 -D_GNU_SOURCE $(OPT) $(WARN) -I. $(EXTRA_CFLAGS)
LDFLAGS := $(EXTRA_LDFLAGS)

BUILD_TARGETS :=
TEST_BINARIES :=
FUZZ_TARGETS  :=
BENCH_BINARIES :=

.DEFAULT_GOAL := help
.SECONDARY:
.DELETE_ON_ERROR:
.PHONY: all build test-binaries

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(OBJ_CFLAGS) -MMD -MP -c $< -o $@

# Position-independent objects, for what goes into a shared library.
$(BUILD)/pic/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -fPIC -fvisibility=hidden $(PIC_CFLAGS) -MMD -MP -c $< -o $@

include $(wildcard */build.mk) $(wildcard */*/build.mk) $(wildcard */*/*/build.mk)

build: $(BUILD_TARGETS)
test-binaries: build $(TEST_BINARIES)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

# ---- verbs ----

TARGET   ?= fiber
DURATION ?= 60s
SOAK_ARGS = --target $(TARGET) --duration $(DURATION) $(if $(SEED),--seed $(SEED)) $(if $(RATE),--rate $(RATE)) \
            $(if $(WORKERS),--workers $(WORKERS)) $(if $(CYCLES),--cycles $(CYCLES)) $(if $(PLAN),--plan $(PLAN)) $(if $(PROBE),--probe $(PROBE)) \
            $(if $(OUT),--out $(OUT)) $(foreach rule,$(RULE),--rule '$(rule)')

.PHONY: help setup soak test bench sanitize fuzz format check-format clean

help:
	@echo 'make soak      the main job: load, faults, a reload and a killed worker on a target; report'
	@echo '               TARGET=fiber|fiber-nginx|php-fpm|path/to/target.toml DURATION=60s CYCLES=n SEED=n RATE=n PROBE=leak RULE=call:when:then'
	@echo 'make test      all unit, integration and end-to-end tests'
	@echo 'make audit     the findings matrix: as audited, as fixed, php-fpm; FINDING=B1,B7 REPEAT=20 TARGET=…'
	@echo 'make differential  scripts on php-fpm and on a target, many in flight, byte for byte'
	@echo 'make phpt      the same with the scripts of PHP'"'"'s own test files (fetches Debian'"'"'s source package)'
	@echo 'make bench     the performance figures, as ratios measured side by side in one run'
	@echo 'make sanitize  the C tests in ASan+UBSan builds'
	@echo 'make fuzz      the libFuzzer targets, FUZZ_SECONDS=60 each'
	@echo 'make build     build/bin/ordeal, ordeal-load and fiber-fpm, build/lib/libordeal.so'
	@echo 'make setup     installs what is missing (Debian 12); all verbs above call it'
	@echo 'make format    clang-format over the C sources; make clean removes build/'

setup:
	@setup/install

# A verb builds what it needs, two jobs at a time, and says so only when there is something to build.
define build_quietly
@$(MAKE) --no-print-directory -q $(1) 2>/dev/null || { echo 'building…'; $(MAKE) --no-print-directory -s -j2 $(1); }
endef

soak: setup
	$(call build_quietly,build)
	@$(PYTHON) -m soak $(SOAK_ARGS)

test: setup check-format
	$(call build_quietly,test-binaries)
	$(PYTHON) -m pytest -n 2 $(PYTEST_ARGS)

bench: setup
	$(call build_quietly,build bench-binaries)
	@$(PYTHON) -m harness.bench $(BENCH_ARGS)

# AddressSanitizer wants to be the first in a program, and so does the shim: in the first build the programs are
# sanitized and the shim is plain; in the second the shim has the undefined-behaviour checks that need no runtime.
ASAN  := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
# (A wrapper may be handed the NULL that its target passes on, whatever libc's declaration says.)
UBSAN := -fsanitize=undefined -fno-sanitize=nonnull-attribute -fsanitize-undefined-trap-on-error
ASAN_TESTS  := fault-inject/test/test_rule_*.c fault-inject/test/test_launcher*.py \
               fault-inject/test/test_replay_exact.py harness/load/test
UBSAN_TESTS := fault-inject/test

sanitize: setup
	@$(MAKE) --no-print-directory -s -j2 BUILD=$(BUILD)/asan CC=clang OPT='-O1 -g' \
	    EXTRA_CFLAGS='$(ASAN)' EXTRA_LDFLAGS='$(ASAN)' test-binaries
	@$(MAKE) --no-print-directory -s -j2 BUILD=$(BUILD)/ubsan CC=gcc OPT='-O2 -g $(UBSAN)' test-binaries
	ORDEAL_BUILD=$(BUILD)/asan $(PYTHON) -m pytest -n 2 -q $(ASAN_TESTS)
	ORDEAL_BUILD=$(BUILD)/ubsan $(PYTHON) -m pytest -n 2 -q $(UBSAN_TESTS)

# build/fuzz/NAME starts from the seeds in fixtures/fuzz/NAME.
FUZZ_SECONDS ?= 60
fuzz: setup
	@$(MAKE) --no-print-directory -s -j2 $(FUZZ_TARGETS)
	@set -e; for target in $(FUZZ_TARGETS); do \
	    seeds=fixtures/fuzz/$$(basename $$target); found=$$(mktemp -d); \
	    echo "fuzz: $$target for $(FUZZ_SECONDS) s, from $$(ls $$seeds | wc -l) seeds in $$seeds"; \
	    $$target -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 -artifact_prefix=$(BUILD)/fuzz/ \
	        $$found $$seeds 2>$$found.log || { tail -n 40 $$found.log; exit 1; }; \
	    grep -E '^(Done|stat::number_of_executed_units)' $$found.log; rm -rf $$found $$found.log; done

C_FILES = $(shell git ls-files -co --exclude-standard '*.c' '*.h')
format:
	clang-format -i $(C_FILES)
check-format:
	@clang-format --dry-run -Werror $(C_FILES)

clean:
	rm -rf $(BUILD)
