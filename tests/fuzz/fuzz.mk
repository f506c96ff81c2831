# The fuzz targets: tests/fuzz/NAME_fuzz.c -> build/fuzz/NAME, built by clang with its sanitizers and
# the rooms it fuzzes (tests/README.md). Compiled without OpenMP: one thread gives the same findings in
# every run.

FUZZ_CC ?= $(shell command -v clang || command -v clang-14)
FUZZ := build/fuzz
FUZZ_SECONDS := $(if $(SECONDS),$(SECONDS),15)
FUZZ_TARGETS := $(if $(TARGET),$(TARGET),$(sort $(patsubst tests/fuzz/%_fuzz.c,%,$(wildcard tests/fuzz/*_fuzz.c))))
FUZZ_CHECKS := address,undefined
FUZZ_CFLAGS := -std=gnu17 -O1 -gline-tables-only -w -fPIC -pthread -I. -D_GNU_SOURCE -DPLIANT_VERSION='"$(VERSION)"' -ffp-contract=off
FUZZ_COVER := -fsanitize=fuzzer-no-link,$(FUZZ_CHECKS) -fno-sanitize-recover=undefined -fno-omit-frame-pointer

fuzz_obj = $(patsubst %.c,$(FUZZ)/obj/%.o,$(1))
FUZZ_SRC := $(wildcard tests/fuzz/*.c)
FUZZERS := $(addprefix $(FUZZ)/,$(FUZZ_TARGETS))

$(FUZZ)/libprotocol.a: $(call fuzz_obj,$(PROTOCOL_SRC) engine/scene/fault.c engine/scene/metrics.c engine/scene/scene.c)
# The kernels, and the choice among them, as GCC builds them: neither is fuzzed, and clang does not know
# the names of the instruction sets.
FUZZ_GCC_OBJ := $(foreach i,$(ISAS),$(patsubst %.c,$(BUILD)/obj/%.$(i).o,$(ENGINE_ISA_SRC))) $(call obj,engine/isa.c)
$(FUZZ)/libengine.a: $(call fuzz_obj,$(filter-out engine/isa.c,$(ENGINE_SRC))) $(FUZZ_GCC_OBJ)
$(FUZZ)/libworker.a: $(call fuzz_obj,$(WORKER_SRC))
$(FUZZ)/libserver.a: $(call fuzz_obj,$(filter-out %_main.c,$(SERVER_SRC)) $(EMBEDDED_SRC))
$(FUZZ)/libfuzz.a: $(call fuzz_obj,tests/fuzz/fuzz.c)
$(FUZZ)/%.a:
	@mkdir -p $(@D) && rm -f $@
	@ar rcs $@ $^

$(FUZZ)/obj/%.o: %.c | test-deps
	@mkdir -p $(@D)
	$(QUIET_CC)$(FUZZ_CC) $(FUZZ_CFLAGS) $(FUZZ_COVER) -MMD -MP -c -o $@ $<

$(FUZZ)/obj/engine/backends/plugin.o: $(BUILD)/engine-abi
$(FUZZ)/obj/engine/backends/plugin.o: FUZZ_CFLAGS += -DPLIANT_ENGINE_ABI=\"$$(cat $(BUILD)/engine-abi)\"

# Archives in the order of use; a target links only what it uses.
FUZZ_LIBS := $(FUZZ)/libfuzz.a $(FUZZ)/libserver.a $(FUZZ)/libworker.a $(FUZZ)/libprotocol.a $(FUZZ)/libengine.a
$(FUZZERS): $(FUZZ)/%: $(FUZZ)/obj/tests/fuzz/%_fuzz.o $(FUZZ_LIBS)
	@$(FUZZ_CC) -fsanitize=fuzzer,$(FUZZ_CHECKS) -pthread -o $@ $^ -Wl,--as-needed -lgomp $(LIBS_SERVER) $(LIBS_PROTOCOL) $(LIBS_LINEAR)

.PHONY: fuzz-programs fuzz-build fuzz-merge
fuzz-programs: $(FUZZERS)
# clang may be missing until the packages are installed, so this is a separate make, after everything
# else, because it links objects of the plain build.
fuzz-build: all | test-deps
	@! tests/fuzz/available $$(command -v clang || command -v clang-14) >/dev/null || $(MAKE) --no-print-directory fuzz-programs

# Inputs with valid checksums from the real writers; then every corpus is reduced to the same coverage.
$(FUZZ)/seeds: tests/fuzz/seeds.c $(BUILD)/libprotocol.a
	@mkdir -p $(@D)
	@$(CC) $(PL_CFLAGS) -o $@ $^ $(LDFLAGS_ALL) $(LIBS_PROTOCOL)
fuzz-merge: fuzz-build $(FUZZ)/seeds all
	@$(FUZZ)/seeds $(FUZZ)/seeded >/dev/null
	@for t in $(FUZZ_TARGETS); do tests/fuzz/merge $$t; done

-include $(shell find $(FUZZ)/obj -name '*.d' 2>/dev/null)
