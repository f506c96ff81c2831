# The fuzz targets: tests/fuzz/NAME_fuzz.c -> build/fuzz/NAME, linked with the rooms that they fuzz
# (tests/README.md). These are compiled by clang with its sanitizers, and without OpenMP: one thread
# gives the same findings in every run. A check's sanitised programs are linked from the same objects.

FUZZ_CC ?= $(shell command -v clang || command -v clang-14)
FUZZ := build/fuzz
FUZZ_SECONDS := $(if $(SECONDS),$(SECONDS),15)
FUZZ_TARGETS := $(if $(TARGET),$(TARGET),$(sort $(patsubst tests/fuzz/%_fuzz.c,%,$(wildcard tests/fuzz/*_fuzz.c))))
FUZZ_CHECKS := address,undefined
FUZZ_CFLAGS := -std=gnu17 -O1 -gline-tables-only -w -fPIC -pthread -I. -D_GNU_SOURCE -DPLIANT_VERSION='"$(VERSION)"' -ffp-contract=off \
    -fsanitize=fuzzer-no-link,$(FUZZ_CHECKS) -fno-sanitize-recover=undefined -fno-omit-frame-pointer -D__SANITIZE_ADDRESS__=1
FUZZERS := $(addprefix $(FUZZ)/,$(FUZZ_TARGETS))
# A make of goals in build/fuzz, by the rules of any other build. The kernels, and the choice among them, are as GCC
# builds them: neither is fuzzed, and clang does not know the names of the instruction sets.
FUZZ_MAKE = $(MAKE) --no-print-directory SAN=$(FUZZ_CHECKS) BUILD=$(FUZZ) KERNELS_BUILD=build CC='$(FUZZ_CC)'

ifeq ($(BUILD),$(FUZZ))
PL_CFLAGS := $(FUZZ_CFLAGS)
LDFLAGS_ALL := -fsanitize=fuzzer-no-link,$(FUZZ_CHECKS) -pthread -Wl,--as-needed -lgomp
# gold warns of what the sanitizers' library exports.
TEST_LINKER :=
$(FUZZ)/libserver.a: $(call obj,$(filter-out %_main.c,$(SERVER_SRC)) $(EMBEDDED_SRC))
$(FUZZ)/libfuzz.a: $(call obj,tests/fuzz/fuzz.c)
# Archives in the order of use; a target links only what it uses.
FUZZ_LIBS := $(addprefix $(FUZZ)/,libfuzz.a libserver.a libworker.a libprotocol.a libengine.a)
$(FUZZERS): $(FUZZ)/%: $(FUZZ)/obj/tests/fuzz/%_fuzz.o $(FUZZ_LIBS)
	@$(CC) -fsanitize=fuzzer,$(FUZZ_CHECKS) -pthread -o $@ $^ -Wl,--as-needed -lgomp $(LIBS_SERVER) $(LIBS_PROTOCOL) $(LIBS_LINEAR)
endif

.PHONY: fuzz-programs fuzz-build fuzz-merge
fuzz-programs: $(FUZZERS)
# clang may be missing until the packages are installed, so this is a separate make, after everything
# else, because it links objects of the plain build. In a check sanitised programs come first: two makes must not
# compile the same objects at once.
fuzz-build: all $(if $(filter check,$(MAKECMDGOALS)),sanitised) | test-deps
	+@! tests/fuzz/available $(FUZZ_CC) >/dev/null || $(FUZZ_MAKE) fuzz-programs

# Inputs with valid checksums from the real writers; then every corpus is reduced to the same coverage.
$(FUZZ)/seeds: tests/fuzz/seeds.c $(BUILD)/libprotocol.a
	@mkdir -p $(@D)
	@$(CC) $(PL_CFLAGS) -o $@ $^ $(LDFLAGS_ALL) $(LIBS_PROTOCOL)
fuzz-merge: fuzz-build $(FUZZ)/seeds all
	@$(FUZZ)/seeds $(FUZZ)/seeded >/dev/null
	@for t in $(FUZZ_TARGETS); do tests/fuzz/merge $$t; done
