# fiber-fpm: a FastCGI server on libphp in which every request is a fiber with its own engine image.

FIBER := runtime/fiber

FIBER_PLAIN_OBJECTS := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard $(addprefix $(FIBER)/,config/*.c fcgi/*.c master/*.c)))
FIBER_PHP_OBJECTS   := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard $(addprefix $(FIBER)/,engine/*.c sched/*.c seam/*.c sapi/*.c worker/*.c)))
FIBER_LIBS = -lphp8.2 -levent_core -lpcre2-8 -ldl $(if $(findstring ORDEAL_DEFECTS,$(EXTRA_CFLAGS)),-lssl)

# Found once, when the first object that needs it is made.
PHP_INCLUDES = $(eval PHP_INCLUDES := $(shell php-config8.2 --includes 2>/dev/null))$(PHP_INCLUDES)

# The engine aliases its structures through other types, and its images are copied as bytes.
$(FIBER_PHP_OBJECTS) $(BUILD)/obj/$(FIBER)/main.o: OBJ_CFLAGS += $(PHP_INCLUDES) -fno-strict-aliasing

BUILD_TARGETS += $(BUILD)/bin/fiber-fpm
$(BUILD)/bin/fiber-fpm: $(BUILD)/obj/$(FIBER)/main.o $(FIBER_PLAIN_OBJECTS) $(FIBER_PHP_OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -rdynamic $^ $(FIBER_LIBS) -o $@

# The folders without PHP in them are tested alone: build/test/runtime/fiber/PART/test_x.
FIBER_PLAIN_TESTS := $(foreach part,config fcgi master,\
    $(patsubst $(FIBER)/$(part)/test/%.c,$(BUILD)/test/$(FIBER)/$(part)/%,$(wildcard $(FIBER)/$(part)/test/test_*.c)))
TEST_BINARIES += $(FIBER_PLAIN_TESTS)

$(FIBER_PLAIN_TESTS): $(BUILD)/test/$(FIBER)/%: $(FIBER_PLAIN_OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $(FIBER)/$(*D)/test/$(*F).c $(FIBER_PLAIN_OBJECTS) -lcmocka -o $@

# fcgi: its tests share headers; the echo server is driven by ordeal-load; libFuzzer needs clang, whatever CC is.
FCGI_TEST_FILES := $(wildcard $(FIBER)/fcgi/*.h $(FIBER)/fcgi/test/*.[ch])
$(filter $(BUILD)/test/$(FIBER)/fcgi/%,$(FIBER_PLAIN_TESTS)): $(FCGI_TEST_FILES)

FCGI_ECHO := $(BUILD)/test/$(FIBER)/fcgi/fcgi_echo
TEST_BINARIES += $(FCGI_ECHO)
$(FCGI_ECHO): $(BUILD)/obj/$(FIBER)/fcgi/test/fcgi_echo.o $(filter $(BUILD)/obj/$(FIBER)/fcgi/%,$(FIBER_PLAIN_OBJECTS))
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) $^ -o $@

FUZZ_TARGETS += $(BUILD)/fuzz/fiber_fcgi
$(BUILD)/fuzz/fiber_fcgi: $(FIBER)/fcgi/fuzz/fuzz_fcgi.c $(wildcard $(FIBER)/fcgi/*.c) $(FCGI_TEST_FILES)
	@mkdir -p $(@D)
	clang $(CFLAGS) -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
	    $(FIBER)/fcgi/fuzz/fuzz_fcgi.c $(wildcard $(FIBER)/fcgi/*.c) -o $@
