# Small programs that `make bench` times.
BENCH_BINARIES += $(BUILD)/bench/hooked_calls

.PHONY: bench-binaries
bench-binaries: $(BENCH_BINARIES)

$(BUILD)/bench/%: $(BUILD)/obj/harness/bench/%.o
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) $^ -pthread -o $@
