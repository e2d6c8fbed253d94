# The master with workers that are not PHP's, for test_master.py.

FAKE_FPM := $(BUILD)/test/runtime/fiber/master/fake_fpm
TEST_BINARIES += $(FAKE_FPM)
$(FAKE_FPM): $(BUILD)/obj/runtime/fiber/master/test/fake_fpm.o $(FIBER_PLAIN_OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) $^ -o $@
