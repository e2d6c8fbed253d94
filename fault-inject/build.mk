# The shim (libordeal.so), the rule parser and the launcher.

FI := fault-inject

SHIM_SOURCES     := $(wildcard $(FI)/shim/*.c)
RULE_SOURCES     := $(FI)/hooks.c $(wildcard $(FI)/rule/*.c)
LAUNCHER_SOURCES := $(wildcard $(FI)/launcher/*.c)

RULE_OBJECTS     := $(RULE_SOURCES:%.c=$(BUILD)/obj/%.o)
LAUNCHER_OBJECTS := $(LAUNCHER_SOURCES:%.c=$(BUILD)/obj/%.o)
SHIM_OBJECTS     := $(SHIM_SOURCES:%.c=$(BUILD)/pic/%.o) $(BUILD)/pic/$(FI)/hooks.o

BUILD_TARGETS += $(BUILD)/lib/libordeal.so $(BUILD)/bin/ordeal

# One unit at link time: the way through a rule that does not match crosses four files.
# A preloaded library cannot bring AddressSanitizer with it (see `make sanitize`).
$(SHIM_OBJECTS): PIC_CFLAGS += $(SHIM_LTO) $(if $(findstring address,$(EXTRA_CFLAGS)),-fno-sanitize=all)
SHIM_LTO := $(if $(findstring clang,$(CC)),,-flto=auto)

$(BUILD)/lib/libordeal.so: $(SHIM_OBJECTS)
	@mkdir -p $(@D)
	$(CC) -shared $(OPT) $(SHIM_LTO) -Wl,-z,now,-z,relro -Wl,--exclude-libs,ALL $(filter-out -fsanitize=%,$(LDFLAGS)) $^ -ldl -o $@.new
	@mv $@.new $@ # in one step: programs may be starting with it

$(BUILD)/bin/ordeal: $(LAUNCHER_OBJECTS) $(RULE_OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) $^ -ljansson -lm -o $@

FI_TESTS := $(patsubst $(FI)/test/%.c,$(BUILD)/test/$(FI)/%,$(wildcard $(FI)/test/test_*.c))
FI_PLUGINS := $(BUILD)/test/$(FI)/dlopen_plugin.so $(BUILD)/test/$(FI)/dlopen_loader.so
FI_PROBES := $(BUILD)/test/$(FI)/replay_probe
TEST_BINARIES += $(FI_TESTS) $(FI_PLUGINS) $(FI_PROBES)

$(FI_PROBES): $(BUILD)/test/$(FI)/%: $(BUILD)/obj/$(FI)/test/%.o
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) $^ -pthread -o $@

$(FI_PLUGINS): $(BUILD)/test/$(FI)/%.so: $(FI)/test/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -fPIC -shared '-Wl,-rpath,$$ORIGIN' -Wl,--enable-new-dtags $< -o $@

# Support code shared by the tests; the tests themselves are single files.
$(BUILD)/test/$(FI)/%: $(BUILD)/obj/$(FI)/test/%.o $(BUILD)/obj/$(FI)/test/support.o $(RULE_OBJECTS) \
                       $(filter-out %/main.o,$(LAUNCHER_OBJECTS))
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) $^ -lcmocka -ljansson -lm -pthread -o $@

# libFuzzer needs clang, whatever CC is.
FUZZ_TARGETS += $(BUILD)/fuzz/rules

$(BUILD)/fuzz/rules: $(FI)/fuzz/fuzz_rule.c $(RULE_SOURCES) $(wildcard $(FI)/*.h $(FI)/rule/*.h) $(FI)/hooks.def
	@mkdir -p $(@D)
	clang $(CFLAGS) -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined $(filter %.c,$^) -lm -o $@
