# The FastCGI server's codec: no I/O, no PHP.

FIBER := runtime/fiber

FCGI_OBJECTS := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard $(FIBER)/fcgi/*.c))
FCGI_TESTS   := $(patsubst $(FIBER)/fcgi/test/%.c,$(BUILD)/test/$(FIBER)/fcgi/%,$(wildcard $(FIBER)/fcgi/test/test_*.c))
TEST_BINARIES += $(FCGI_TESTS)

$(FCGI_TESTS): $(BUILD)/test/$(FIBER)/fcgi/%: $(FIBER)/fcgi/test/%.c $(FCGI_OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $< $(FCGI_OBJECTS) -lcmocka -o $@

# fcgi: its tests share headers; the echo server is driven by ordeal-load; libFuzzer needs clang, whatever CC is.
FCGI_TEST_FILES := $(wildcard $(FIBER)/fcgi/*.h $(FIBER)/fcgi/test/*.[ch])
$(FCGI_TESTS): $(FCGI_TEST_FILES)

FCGI_ECHO := $(BUILD)/test/$(FIBER)/fcgi/fcgi_echo
TEST_BINARIES += $(FCGI_ECHO)
$(FCGI_ECHO): $(BUILD)/obj/$(FIBER)/fcgi/test/fcgi_echo.o $(FCGI_OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) $^ -o $@

FUZZ_TARGETS += $(BUILD)/fuzz/fiber_fcgi
$(BUILD)/fuzz/fiber_fcgi: $(FIBER)/fcgi/fuzz/fuzz_fcgi.c $(wildcard $(FIBER)/fcgi/*.c) $(FCGI_TEST_FILES)
	@mkdir -p $(@D)
	clang $(CFLAGS) -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
	    $(FIBER)/fcgi/fuzz/fuzz_fcgi.c $(wildcard $(FIBER)/fcgi/*.c) -o $@
