# The configuration's fuzz target; its tests are built by runtime/fiber/build.mk.

CONFIG_FUZZED := $(wildcard runtime/fiber/config/*.c)

FUZZ_TARGETS += $(BUILD)/fuzz/fiber_config
$(BUILD)/fuzz/fiber_config: runtime/fiber/config/fuzz/fuzz_config.c $(CONFIG_FUZZED) $(wildcard runtime/fiber/config/*.h)
	@mkdir -p $(@D)
	clang $(CFLAGS) -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
	    runtime/fiber/config/fuzz/fuzz_config.c $(CONFIG_FUZZED) -o $@
