# ordeal-load, the load generator.

LOAD_PARTS := account conn decoder engine engine_setup fcgi_codec histogram http_codec json_out judge live mix \
              mix_body options report schedule target template text units
LOAD_OBJECTS := $(LOAD_PARTS:%=$(BUILD)/obj/harness/load/%.o)
LOAD_TESTS := account codec histogram mix schedule

BUILD_TARGETS += $(BUILD)/bin/ordeal-load
TEST_BINARIES += $(LOAD_TESTS:%=$(BUILD)/test/harness/load/test_%)
FUZZ_TARGETS += $(BUILD)/fuzz/load_codecs

$(BUILD)/bin/ordeal-load: $(BUILD)/obj/harness/load/main.o $(LOAD_OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) $^ -lm -o $@

$(BUILD)/test/harness/load/test_%: $(BUILD)/obj/harness/load/test/test_%.o $(LOAD_OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) $^ -lcmocka -lm -o $@

# libFuzzer needs clang, whatever CC is: the few files it exercises are compiled for it alone.
LOAD_FUZZ_SOURCES := $(addprefix harness/load/,fuzz/fuzz_codecs.c decoder.c fcgi_codec.c http_codec.c template.c text.c)

$(BUILD)/fuzz/load_codecs: $(LOAD_FUZZ_SOURCES) $(wildcard harness/load/*.h)
	@mkdir -p $(@D)
	clang $(CFLAGS) -fsanitize=fuzzer,address,undefined $(LOAD_FUZZ_SOURCES) -lm -o $@
