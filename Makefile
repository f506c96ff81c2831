# Pliant - `make help` lists the goals.
#
# Sources are found by their folder: a file in a room belongs to that room's library or program.
#   engine/**/*.c        -> libengine.a     files named *_isa.c are compiled once per instruction set
#   protocol/**/*.c      -> libprotocol.a
#   server/**/*.c        -> pliantd, except server/worker/
#   server/worker/*.c    -> pliant-worker (worker_main.c) and pliant-preflight (preflight_main.c)
#   clients/cli/**/*.c   -> pliant
#   tests/<kind>/*_test.c -> one test program each; tests/bench/*_bench.c -> one benchmark each
#   tests/python/*_test.py, tests/oracle/*_test.py -> the same for tests in Python
#   tests/web/*_test.mjs  -> the same for the dashboard, in a browser

# All cores, unless the command line has -j.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc)
endif

SHELL := /bin/bash
CC ?= gcc
BUILD ?= build
SAN ?=
VERSION := 0.1.0

comma := ,
ifneq ($(SAN),)
BUILD := build/san-$(subst $(comma),-,$(SAN))
# With instrumentation GCC reports uninitialised values that do not exist.
SAN_FLAGS := -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer -Wno-uninitialized -Wno-maybe-uninitialized
endif

# -ffp-contract=off: the same bits whatever the instruction set; -fno-math-errno and
# -fno-trapping-math let sqrt and selects vectorise; never -ffast-math (.github/CONTRIBUTING.md).
NUMERIC := -ffp-contract=off -fno-math-errno -fno-trapping-math
WARN := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wno-psabi \
        -Wno-unused-parameter
# A machine with a GPU may have another compiler.
ifneq ($(filter gpu-%,$(MAKECMDGOALS)),)
WARN += -Wno-error
endif
CFLAGS ?= -O2 -g
PL_CFLAGS := -std=gnu17 $(CFLAGS) $(WARN) $(NUMERIC) -fopenmp -fPIC -pthread -I. -D_GNU_SOURCE \
             -DPLIANT_VERSION='"$(VERSION)"' $(SAN_FLAGS)
LDFLAGS_ALL := -Wl,--as-needed -fopenmp -pthread $(SAN_FLAGS) $(LDFLAGS)

# Each kernel is one function of thousands of vector operations: with all of them checked it would compile
# for minutes. Memory accesses are checked, the stack and the arithmetic are not.
ifneq ($(SAN),)
ISA_SAN := -O2 -fno-sanitize=undefined --param asan-stack=0
endif

# Tracking variables of vectors takes a quarter of the time to compile a kernel, and only helps a debugger.
# The kernels' vectors are written out: -O3 gains a few per cent and takes up to four times as long if they
# are many registers each, so the oldest instruction set does without it.
ISA_OPTIMISE := -O3 -fno-var-tracking
ISA_OPTIMISE_v2 := -O1 -Wno-maybe-uninitialized
ARCH := $(shell uname -m)
ifeq ($(ARCH),x86_64)
ISAS := v2 v3 v4
ISA_FLAGS_v2 := -march=x86-64-v2
ISA_FLAGS_v3 := -march=x86-64-v3
ISA_FLAGS_v4 := -march=x86-64-v4 -mprefer-vector-width=512
# `make demo` in a new tree compiles the kernels of this processor only, which takes half as long. Any other goal
# compiles the rest; build/isas lists what a build has.
ifeq ($(MAKECMDGOALS),demo)
ifneq ($(words $(shell cat $(BUILD)/isas 2>/dev/null)),3)
ISAS := $(or $(shell /lib64/ld-linux-x86-64.so.2 --help 2>/dev/null | sed -n 's/^ *x86-64-\(v[234]\) (supported, searched)/\1/p' | sort | tail -n 1),v2)
endif
endif
else
ISAS := base
ISA_FLAGS_base :=
endif

ENGINE_SRC := $(sort $(shell find engine -name '*.c' ! -name '*_isa.c' ! -path 'engine/backends/cuda/*' ! -path 'engine/backends/device/*'))
ENGINE_ISA_SRC := $(sort $(shell find engine -name '*_isa.c'))
# The device's code, once for each precision; *_kernels.c are compiled as a device's threads.
DEVICE_SRC := $(addprefix engine/backends/device/,between.c fetch.c phases.c kinematics.c objective.c descent.c runs.c stages.c device_model.c matrix.c splitting.c)
DEVICE_KERNELS := $(sort $(wildcard engine/backends/device/*_kernels.c))
PROTOCOL_SRC := $(sort $(wildcard protocol/*/*.c))
SERVER_SRC := $(sort $(filter-out server/worker/%,$(wildcard server/*.c server/*/*.c)))
WORKER_SRC := $(sort $(filter-out %_main.c,$(wildcard server/worker/*.c)))
CLI_SRC := $(sort $(wildcard clients/cli/*.c clients/cli/*/*.c))
SUPPORT_SRC := $(sort $(wildcard tests/support/*.c))
TEST_SRC := $(sort $(wildcard tests/*/*_test.c))
PYTHON_TEST_SRC := $(sort $(wildcard tests/python/*_test.py tests/oracle/*_test.py))
WEB_TEST_SRC := $(sort $(wildcard tests/web/*_test.mjs))
BENCH_SRC := $(sort $(wildcard tests/bench/*_bench.c))
# Its main() is that of a program of its own: fixed work whose instructions are counted.
WORKLOADS_SRC := tests/bench/workloads.c
BENCH_HELP_SRC := $(sort $(filter-out $(BENCH_SRC) $(WORKLOADS_SRC),$(wildcard tests/bench/*.c)))

# The folder of the kernels' objects. The sanitised part of a check uses the plain build's, and leaves out
# support code that none of its tests runs.
KERNELS_BUILD := $(BUILD)
ifneq ($(KERNELS_BUILD),$(BUILD))
SUPPORT_SRC := $(filter-out tests/support/kernels_%,$(SUPPORT_SRC))
endif

# The folder of the libraries that tests of the device link beside what they test.
LIBRARIES_BUILD := $(BUILD)

obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
ENGINE_OBJ := $(call obj,$(filter-out engine/isa.c,$(ENGINE_SRC))) $(KERNELS_BUILD)/obj/engine/isa.o \
              $(foreach i,$(ISAS),$(patsubst %.c,$(KERNELS_BUILD)/obj/%.$(i).o,$(ENGINE_ISA_SRC)))
PROGRAMS := $(addprefix $(BUILD)/,$(if $(SERVER_SRC),pliantd) \
            $(if $(wildcard server/worker/worker_main.c),pliant-worker) \
            $(if $(wildcard server/worker/preflight_main.c),pliant-preflight) $(if $(CLI_SRC),pliant))
# The programs print their manuals themselves, from the tables of --help.
ifeq ($(SAN)$(ARCH),$(shell uname -m))
MANUALS := $(BUILD)/pliant.1 $(BUILD)/pliantd.1
endif
NVCC ?= $(firstword $(shell command -v nvcc) $(wildcard /usr/local/cuda/bin/nvcc))
ifneq ($(NVCC),)
ifeq ($(SAN)$(ARCH),$(shell uname -m))
PROGRAMS += $(BUILD)/libpliant_cuda.so
endif
endif
TESTS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(TEST_SRC))
# For a machine with a GPU.
GPU_PROGRAMS := $(BUILD)/gpu/gpu-check $(BUILD)/gpu/gpu-bench
PYTHON_TESTS := $(patsubst tests/%.py,$(BUILD)/tests/%,$(PYTHON_TEST_SRC))
WEB_TESTS := $(patsubst tests/%.mjs,$(BUILD)/tests/%,$(WEB_TEST_SRC))
BENCHES := $(patsubst tests/%.c,$(BUILD)/tests/%,$(BENCH_SRC)) $(BUILD)/tests/bench/python_bench \
           $(BUILD)/tests/bench/small_sessions_bench $(BUILD)/tests/bench/stored_sessions_bench
# Debian's Python if installed, because it has Debian's numpy.
PYTHON ?= $(firstword $(wildcard /usr/bin/python3) python3)

LIBS_LINEAR := -lcholmod -lblas -lm
# For programs that step: engine/team_of_one.c.
TEAM_OF_ONE := -Wl,--wrap=GOMP_parallel
LIBS_PROTOCOL := -ljansson -lcrypto -lz -lm
LIBS_SERVER := -lmicrohttpd -lgnutls -lsqlite3 -lcurl -lnlopt
LIBS_CLI := -lcurl
LIBS_CHECK := -lcheck -lsubunit -lrt

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:

include clients/web/web.mk
include clients/site/site.mk

##@ Building
.PHONY: all
all: deps $(PROGRAMS) $(MANUALS) compile_commands.json ## build every program into build/, and pliant.1, pliantd.1
.PHONY: web
web: $(BUILD)/pliantd ## build the dashboard again, and the daemon with it
.PHONY: docs
docs: $(SITE)/docs_files.c ## build the documentation site again, into build/docs/dist

# Only goals whose help says so install packages. Any other goal prints the command that installs missing
# ones. Goals for a machine with a GPU need a C compiler, make and nvcc, and nothing else.
INSTALLING := demo figures test check check-long standin-check bench fuzz fuzz-build sanitised tests golden arm64-check
.PHONY: deps
ifneq ($(filter $(INSTALLING),$(MAKECMDGOALS)),)
deps: build/.deps
else ifeq ($(filter gpu-%,$(MAKECMDGOALS)),)
deps:
	@[ -e build/.deps ] || deploy/install-deps --require
endif
build/.deps: deploy/install-deps
	@deploy/install-deps
	@mkdir -p build && touch $@
# Further packages of the tests; one apt at a time.
.PHONY: test-deps
test-deps: build/.test-deps
build/.test-deps: deploy/install-deps | build/.deps
	@deploy/install-deps --dev
	@touch $@

$(BUILD)/libengine.a: $(ENGINE_OBJ)
# The leaf structs are in the protocol's library, so the daemon and the command line link no engine.
LEAF_OBJ := $(call obj,engine/scene/carries.c engine/scene/change.c engine/scene/contact_between.c engine/scene/fault.c engine/scene/metrics.c engine/scene/motion.c engine/scene/scene.c engine/scene/transform.c)
$(BUILD)/libprotocol.a: $(call obj,$(PROTOCOL_SRC)) $(LEAF_OBJ)
$(BUILD)/libworker.a: $(call obj,$(WORKER_SRC))
$(BUILD)/libsupport.a: $(call obj,$(SUPPORT_SRC))
$(BUILD)/libcli.a: $(call obj,$(filter-out clients/cli/main.c,$(CLI_SRC)))
$(BUILD)/%.a:
	@mkdir -p $(@D) && rm -f $@
	@ar rcs $@ $^

# The device's code on the host, for tests.
EMULATED_OBJ := $(call obj,$(addprefix engine/backends/device/,joint.c memory_host.c)) \
    $(foreach p,f32 f64,$(patsubst %.c,$(BUILD)/obj/%.$(p).o,$(DEVICE_SRC) $(DEVICE_KERNELS)))
$(BUILD)/libemulated.a: $(EMULATED_OBJ)
# The same as a plug-in, to test its loading without a GPU.
EMULATED_PLUGIN := $(BUILD)/tests/libpliant_emulated.so
$(EMULATED_PLUGIN): $(BUILD)/obj/tests/gpu/emulated_plugin.o $(BUILD)/libemulated.a $(BUILD)/libengine.a
	@mkdir -p $(@D)
	@$(CC) -shared -o $@ $^ -Wl,--exclude-libs=ALL $(LDFLAGS_ALL) -lm

# The plug-in's own sources on a stand-in for CUDA's runtime (tests/gpu/standin), with the kernels above: as a library
# for the tests of the device, and as the plug-in. Kernels launch through the stand-in, by the name that they call.
STANDIN_DIR := $(BUILD)/obj/tests/gpu/standin
STANDIN_OBJ := $(call obj,$(sort $(wildcard tests/gpu/standin/*.c))) $(BUILD)/obj/engine/backends/device/joint.o \
    $(STANDIN_DIR)/memory_cuda.o $(BUILD)/obj/engine/backends/cuda/management.o $(foreach p,f32 f64,$(STANDIN_DIR)/kernels.$(p).o $(patsubst %.c,$(BUILD)/obj/%.$(p).o,$(DEVICE_SRC)))
define standin_rule
$(STANDIN_DIR)/kernels.$(1).o: $(patsubst %.c,$(KERNELS_BUILD)/obj/%.$(1).o,$(DEVICE_KERNELS))
	@mkdir -p $$(@D)
	@$(LD) -r -o $$@ $$^ && objcopy --redefine-sym pl_device_launch=standin_device_launch_$(1) --redefine-sym pl_device_bytes_kernel_$(1)=standin_bytes_kernel_$(1) $$@
endef
$(eval $(call standin_rule,f32))
$(eval $(call standin_rule,f64))
STANDIN_CXX = $(CXX) -x c++ -std=c++20 $(CFLAGS) -Wall -Wextra -Wno-format-truncation -Wno-deprecated-enum-enum-conversion -fPIC -pthread -I. -Itests/gpu/standin/include -D_GNU_SOURCE $(SAN_FLAGS)
$(STANDIN_DIR)/memory_cuda.o: engine/backends/cuda/memory_cuda.cu | deps
	@mkdir -p $(@D)
	$(QUIET_CC)$(STANDIN_CXX) -MMD -MP -c -o $@ $<
STANDIN_LINK := -Wl,--wrap=pl_round_begin
$(BUILD)/libstandin.a: $(STANDIN_OBJ)
STANDIN_PLUGIN := $(BUILD)/standin/libpliant_cuda.so
$(STANDIN_PLUGIN): $(BUILD)/obj/engine/backends/cuda/plugin.o $(BUILD)/obj/tests/gpu/standin_exported.o $(BUILD)/libstandin.a $(LIBRARIES_BUILD)/libdescent.a
	@mkdir -p $(@D)
	@$(CC) -shared -o $@ $^ $(STANDIN_LINK) -Wl,--exclude-libs=ALL -Wl,--no-undefined $(LDFLAGS_ALL) -lstdc++ -lm

# The same for CUDA, a plug-in that is built if nvcc is installed and loaded if a session asks for a GPU: for
# sm_80, sm_90, and newer ones by PTX. The report of ptxas on each kernel is kept beside its object. A check
# on a machine without a GPU builds for sm_90, and single precision only as PTX, in a quarter of nvcc's time.
# `codes` records the targets.
CUDA_PART := $(and $(filter check,$(MAKECMDGOALS)),$(if $(wildcard /dev/nvidia0),,none))
CUDA_CODES := $(if $(CUDA_PART),,-gencode arch=compute_80,code=sm_80) -gencode arch=compute_90,code=[sm_90,compute_90]
CUDA_CODES_f64 := $(CUDA_CODES)
CUDA_CODES_f32 := $(if $(CUDA_PART),-gencode arch=compute_90$(comma)code=compute_90,$(CUDA_CODES))
CUDA_FLAGS := -std=c++20 -O3 \
    -diag-suppress 1675 -Xcompiler -fPIC,-fvisibility=hidden,-Wno-deprecated-enum-enum-conversion -Xptxas -v -I. -D_GNU_SOURCE $(NVCCFLAGS)
CUDA_DIR := $(BUILD)/obj/engine/backends/cuda
CUDA_KERNELS := $(foreach p,f32 f64,$(patsubst engine/backends/device/%.c,$(CUDA_DIR)/%.$(p).o,$(DEVICE_KERNELS)))
CUDA_OBJ := $(addprefix $(CUDA_DIR)/,joint.o management.o memory_cuda.o plugin.o) $(CUDA_KERNELS) \
    $(foreach p,f32 f64,$(patsubst engine/backends/device/%.c,$(CUDA_DIR)/%.$(p).o,$(DEVICE_SRC)))
define cuda_rule
$(CUDA_DIR)/%_kernels.$(1).o: engine/backends/device/%_kernels.c $(CUDA_DIR)/codes | deps
	@mkdir -p $$(@D)
	$$(QUIET_NVCC)$(NVCC) -x cu $(CUDA_FLAGS) $(CUDA_CODES_$(1)) -DPL_DEVICE -DPL_ROW=16 $(2) -MMD -MP -c -o $$@ $$< 2>$$@.ptxas || { cat $$@.ptxas >&2; exit 1; }
$(CUDA_DIR)/%.$(1).o: engine/backends/device/%.c | deps
	@mkdir -p $$(@D)
	$$(QUIET_CC)$$(CC) $$(PL_CFLAGS) -fvisibility=hidden $(2) -DPL_DEVICE_NAME='"cuda"' -MMD -MP -c -o $$@ $$<
endef
$(CUDA_DIR)/codes: always
	@mkdir -p $(@D)
	@echo '$(CUDA_CODES) $(CUDA_CODES_f32)' | cmp -s - $@ || echo '$(CUDA_CODES) $(CUDA_CODES_f32)' > $@
$(eval $(call cuda_rule,f32,-DPL_SINGLE))
$(eval $(call cuda_rule,f64,))
$(CUDA_DIR)/%.o: engine/backends/cuda/%.cu $(CUDA_DIR)/codes | deps
	@mkdir -p $(@D)
	$(QUIET_NVCC)$(NVCC) $(CUDA_FLAGS) $(CUDA_CODES) -MMD -MP -c -o $@ $< 2>$@.ptxas || { cat $@.ptxas >&2; exit 1; }
$(CUDA_DIR)/%.o: engine/backends/cuda/%.c | deps
	@mkdir -p $(@D)
	$(QUIET_CC)$(CC) $(PL_CFLAGS) -fvisibility=hidden -MMD -MP -c -o $@ $<
$(CUDA_DIR)/%.o: engine/backends/device/%.c | deps
	@mkdir -p $(@D)
	$(QUIET_CC)$(CC) $(PL_CFLAGS) -fvisibility=hidden -MMD -MP -c -o $@ $<
$(BUILD)/libpliant_cuda.so: $(CUDA_OBJ) $(BUILD)/libdescent.a
	$(QUIET_LINK)$(NVCC) -shared -cudart static -o $@ $(CUDA_OBJ) $(BUILD)/libdescent.a -Xlinker --exclude-libs=ALL -Xlinker --no-undefined -lgomp -lm -ldl

$(BUILD)/pliantd: $(call obj,$(SERVER_SRC) $(EMBEDDED_SRC)) $(BUILD)/libprotocol.a
	$(QUIET_LINK)$(CC) -o $@ $(call obj,$(SERVER_SRC) $(EMBEDDED_SRC)) $(BUILD)/libprotocol.a $(LDFLAGS_ALL) $(LIBS_SERVER) $(LIBS_PROTOCOL)
$(BUILD)/pliant-worker: $(BUILD)/obj/server/worker/worker_main.o $(BUILD)/libworker.a $(BUILD)/libprotocol.a $(BUILD)/libengine.a
	$(QUIET_LINK)$(CC) -o $@ $< $(BUILD)/libworker.a $(BUILD)/libprotocol.a $(BUILD)/libengine.a $(TEAM_OF_ONE) $(LDFLAGS_ALL) $(LIBS_PROTOCOL) $(LIBS_LINEAR)
# The preflight links no BLAS: its start takes a millisecond, and a mesh parser needs no solver.
$(BUILD)/pliant-preflight: $(BUILD)/obj/server/worker/preflight_main.o $(BUILD)/libworker.a $(BUILD)/libprotocol.a $(BUILD)/libengine.a
	$(QUIET_LINK)$(CC) -o $@ $< $(BUILD)/libworker.a $(BUILD)/libprotocol.a $(BUILD)/libengine.a $(TEAM_OF_ONE) $(LDFLAGS_ALL) $(LIBS_PROTOCOL)
$(BUILD)/pliant.1 $(BUILD)/pliantd.1: %.1: %
	@$< --man > $@
# The tables of a scene's keys, for the reference on the site: before pliantd, which has the site in it.
$(BUILD)/print-schema: $(BUILD)/obj/clients/site/print_schema.o $(BUILD)/libprotocol.a
	@$(CC) -o $@ $^ $(LDFLAGS_ALL) $(LIBS_PROTOCOL)
$(BUILD)/pliant: $(call obj,$(CLI_SRC)) $(BUILD)/libprotocol.a
	$(QUIET_LINK)$(CC) -o $@ $(call obj,$(CLI_SRC)) $(BUILD)/libprotocol.a $(LDFLAGS_ALL) $(LIBS_CLI) $(LIBS_PROTOCOL)

# A hash of the engine's headers, for the one object that detects a plug-in of another build. Every build
# checks the file and writes it only if the hash has changed.
.PHONY: always
$(BUILD)/engine-abi: always
	@mkdir -p $(@D)
	@find engine -name '*.h' | LC_ALL=C sort | xargs sha256sum | sha256sum | cut -c1-16 > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
# The same for the instruction sets that the build has, because tables name them.
$(BUILD)/isas: always
	@mkdir -p $(@D)
	@echo '$(ISAS)' | cmp -s - $@ || echo '$(ISAS)' > $@
ISA_TABLES := $(call obj,engine/isa.c $(shell grep -rl PL_ISA_TABLE engine --include='*.c'))
$(ISA_TABLES): $(BUILD)/isas
ifeq ($(words $(ISAS))$(ARCH),1x86_64)
$(ISA_TABLES): PL_CFLAGS += -DPL_ONE_ISA=$(ISAS)
endif
$(BUILD)/obj/engine/backends/plugin.o: $(BUILD)/engine-abi
$(BUILD)/obj/engine/backends/plugin.o: PL_CFLAGS += -DPLIANT_ENGINE_ABI=\"$$(cat $(BUILD)/engine-abi)\"

$(BUILD)/obj/%.o: %.c | deps
	@mkdir -p $(@D)
	$(QUIET_CC)$(CC) $(PL_CFLAGS) -MMD -MP -c -o $@ $<
# A test's own code takes little time to run but much to compile: half as long at -O1. Tests that compile
# kernels add the pass that would fuse multiplications and additions if it were allowed to; tests that run
# few of them have no optimisation.
$(foreach k,faults http physics support unit,$(BUILD)/obj/tests/$(k)/%.o): PL_CFLAGS += -O1 -g1
$(BUILD)/obj/tests/support/kernels_%.o: PL_CFLAGS += -fexpensive-optimizations -fno-tree-dse -Wno-maybe-uninitialized
$(BUILD)/obj/tests/unit/kernels_neo_hookean_test.o $(BUILD)/obj/tests/unit/kernels_svd3_test.o: PL_CFLAGS += -O0
$(BUILD)/obj/tests/support/kernels_%.o $(BUILD)/obj/tests/unit/kernels_%.o: PL_CFLAGS += $(ISA_SAN)
define isa_rule
$(BUILD)/obj/%.$(1).o: %.c | deps
	@mkdir -p $$(@D)
	$$(QUIET_CC)$(CC) $$(PL_CFLAGS) $$(ISA_OPTIMISE) $(ISA_OPTIMISE_$(1)) $(ISA_FLAGS_$(1)) $(ISA_SAN) -DPL_ISA=$(1) -MMD -MP -c -o $$@ $$<
endef
$(foreach i,$(ISAS),$(eval $(call isa_rule,$(i))))
define precision_rule
$(BUILD)/obj/engine/backends/device/%.$(1).o: engine/backends/device/%.c | deps
	@mkdir -p $$(@D)
	$$(QUIET_CC)$$(CC) $$(PL_CFLAGS) -Wno-unused-function -Wno-maybe-uninitialized $(2) -DPL_DEVICE_NAME='"emulated"' -MMD -MP -c -o $$@ $$<
endef
$(eval $(call precision_rule,f32,-DPL_SINGLE))
$(eval $(call precision_rule,f64,))
$(BUILD)/obj/engine/backends/device/%_kernels.f32.o $(BUILD)/obj/engine/backends/device/%_kernels.f64.o: \
    PL_CFLAGS += -DPL_DEVICE -DPL_SCALAR -DPL_ROW=16 -O1 -fno-var-tracking
# Their searches take longest to compile, without a gain.
$(BUILD)/obj/engine/model/groups/tets_stretch_isa.%.o $(foreach k,bends edges triangles tets,$(BUILD)/obj/engine/model/damping/damping_$(k)_isa.%.o): \
    ISA_OPTIMISE := -O2 -fno-var-tracking
# One line per file; nothing with make -s; the full command with V=1.
ifndef V
quiet = @$(if $(findstring s,$(firstword -$(MAKEFLAGS))),,echo "  $(1)";)
QUIET_CC = $(call quiet,CC $<)
QUIET_NVCC = $(call quiet,NVCC $<)
QUIET_LINK = $(call quiet,LINK $@)
endif

# A test program links everything; unit tests reach inside the rooms. There are so many of them that a faster
# linker matters: binutils has one.
TEST_LINKER := $(if $(shell command -v ld.gold),-fuse-ld=gold)
$(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(BUILD)/libsupport.a $(KERNELS_BUILD)/libcli.a $(BUILD)/libworker.a $(BUILD)/libprotocol.a $(KERNELS_BUILD)/libemulated.a $(BUILD)/libengine.a
	@mkdir -p $(@D)
	@$(CC) $(TEST_LINKER) -o $@ $(BEFORE_LIBRARIES) $(filter-out $(BEFORE_LIBRARIES),$^) $(BUILD)/libprotocol.a $(TEAM_OF_ONE) $(LDFLAGS_ALL) $(LIBS_CHECK) $(LIBS_SERVER) $(LIBS_CLI) $(LIBS_PROTOCOL) $(LIBS_LINEAR)
# Two tests make every allocation of the engine fail in turn.
$(BUILD)/tests/unit/engine_memory_test $(BUILD)/tests/unit/contact_memory_test: LDFLAGS_ALL += -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=free
# One makes those of control.log's reader fail.
$(BUILD)/tests/unit/worker_control_test: LDFLAGS_ALL += -Wl,--wrap=malloc,--wrap=realloc
# And one makes every allocation of the protocol fail.
$(BUILD)/tests/unit/protocol_memory_test: LDFLAGS_ALL += -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free,--wrap=strdup,--wrap=asprintf,--wrap=vasprintf
$(BENCHES) $(BUILD)/tests/bench/workloads: $(call obj,$(BENCH_HELP_SRC))
$(BUILD)/tests/python/instructions_test: | $(BUILD)/tests/bench/workloads
# The scheduler and the simulator that tests it; and the assignment of CPUs.
SCHEDULE_SRC := $(sort $(wildcard server/schedule/*.c) server/run/cpus.c server/run/cpu_set.c $(filter-out %_test.c,$(wildcard tests/scheduler/*.c)))
$(filter $(BUILD)/tests/scheduler/%,$(TESTS)) $(BUILD)/tests/bench/schedule_bench: $(call obj,$(SCHEDULE_SRC))
# Parts of the daemon that stand alone.
$(BUILD)/tests/unit/base_pool_test: $(call obj,server/base/pool.c)
$(BUILD)/tests/unit/run_memory_groups_test: $(call obj,server/run/control_group.c server/run/memory_delegation.c server/run/memory_groups.c server/base/logger.c)
$(BUILD)/tests/unit/run_memory_groups_test: LDFLAGS_ALL += -Wl,--wrap=mkdirat,--wrap=unlinkat
$(BUILD)/tests/unit/sessions_control_log_test: $(call obj,server/sessions/control_log.c server/base/disk.c server/base/clock.c server/base/logger.c)
$(BUILD)/tests/unit/sessions_table_test $(BUILD)/tests/unit/store_statements_test: $(call obj,$(filter-out %_main.c,$(SERVER_SRC)) $(EMBEDDED_SRC))
$(BUILD)/tests/unit/sweeps_fit_test: $(call obj,server/sweeps/fit_search.c)
$(BUILD)/tests/unit/batch_system_test $(BUILD)/tests/unit/batch_list_test: $(call obj,server/batch/batch_system.c server/batch/batch_slurm.c server/batch/batch_list.c)
$(BUILD)/tests/unit/base_histogram_test: $(call obj,server/base/histogram.c)
$(BUILD)/tests/unit/base_logger_test: $(call obj,server/base/logger.c)
# Timed kernels are optimised like the engine's.
TIMED_KERNELS := $(patsubst tests/support/%.c,$(BUILD)/obj/tests/bench/%.o,$(wildcard tests/support/kernels_probe*.c))
$(TIMED_KERNELS): $(BUILD)/obj/tests/bench/%.o: tests/support/%.c | test-deps
	@mkdir -p $(@D)
	$(QUIET_CC)$(CC) $(PL_CFLAGS) $(ISA_OPTIMISE) -MMD -MP -c -o $@ $<
$(BUILD)/tests/bench/prox_bench: $(TIMED_KERNELS)
$(BUILD)/tests/bench/prox_bench: BEFORE_LIBRARIES := $(TIMED_KERNELS)
$(call obj,$(TEST_SRC) $(SUPPORT_SRC) $(SCHEDULE_SRC) $(BENCH_SRC) $(BENCH_HELP_SRC) $(WORKLOADS_SRC) tests/figures/figures.c): | test-deps

# Programs of physics once more, on a backend whose memory the host cannot read.
STRICT_TESTS := $(patsubst %,$(BUILD)/tests/strict/%_test,admm failure golden half_step loads pins projective \
                restart statics)
$(STRICT_TESTS): $(BUILD)/tests/strict/%: $(BUILD)/tests/physics/%
	@mkdir -p $(@D)
	@printf '#!/bin/sh\nPLIANT_TEST_BACKEND=strict exec %s\n' $(abspath $<) > $@ && chmod +x $@

# And the device's tests with the plug-in's own host side, on the stand-in for CUDA's runtime.
STANDIN_TESTS := $(patsubst %,$(BUILD)/tests/standin/%_test,device device_many device_splitting device_stages device_touching)
$(STANDIN_TESTS): $(BUILD)/tests/standin/%: $(BUILD)/obj/tests/physics/%.o
STANDIN_UNIT_TESTS := $(filter $(BUILD)/tests/gpu/%,$(TESTS))
$(STANDIN_UNIT_TESTS): $(BUILD)/tests/gpu/%: $(BUILD)/obj/tests/gpu/%.o
STANDIN_LIBRARIES := $(addprefix $(LIBRARIES_BUILD)/,libsupport.a libworker.a libprotocol.a) $(BUILD)/libstandin.a $(LIBRARIES_BUILD)/libengine.a
$(STANDIN_TESTS) $(STANDIN_UNIT_TESTS): $(STANDIN_LIBRARIES)
	@mkdir -p $(@D)
	@$(CC) $(TEST_LINKER) -o $@ $(STANDIN_LINK) $(filter %.o,$^) $(filter %.a,$^) $(LIBRARIES_BUILD)/libprotocol.a $(TEAM_OF_ONE) $(LDFLAGS_ALL) $(LIBS_CHECK) $(LIBS_PROTOCOL) $(LIBS_LINEAR) -lstdc++
FAKE_MANAGEMENT := $(BUILD)/standin/libnvidia-ml.so.1
$(FAKE_MANAGEMENT): tests/gpu/fake_management.c | deps
	@mkdir -p $(@D)
	@$(CC) -std=gnu17 -O1 -Wall -Wextra -Wno-unused-parameter -Werror -fPIC -shared -Wl,-soname,$(@F) -o $@ $<
$(BUILD)/tests/gpu/cuda_memory_test: | $(FAKE_MANAGEMENT)
# The programs for a machine with a GPU look for the plug-in one folder above them.
STANDIN_PROGRAMS := $(BUILD)/standin/gpu/gpu-check $(BUILD)/standin/gpu/gpu-bench
$(STANDIN_PROGRAMS): $(BUILD)/standin/%: $(BUILD)/% | $(STANDIN_PLUGIN)
	@mkdir -p $(@D) && cp $< $@

# Programs in Python appear among the others as the script that starts them.
$(BUILD)/tests/%: tests/%.py
	@mkdir -p $(@D)
	@printf '#!/bin/sh\nexec %s -W error -X dev %s "$$@"\n' '$(PYTHON)' $(abspath $<) > $@ && chmod +x $@

# Programs of the dashboard's tests, which need the daemon that contains it.
$(BUILD)/tests/%: tests/%.mjs | $(PROGRAMS)
	@mkdir -p $(@D)
	@printf '#!/bin/sh\nexec %s/tests/web/run %s\n' '$(CURDIR)' $(abspath $<) > $@ && chmod +x $@

# Libraries that tests load.
FAILING_MEMORY := $(BUILD)/tests/libfailing_memory.so
SLOW_DISK := $(BUILD)/tests/libslow_disk.so
FULL_DISK := $(BUILD)/tests/libfull_disk.so
CLOCK_AHEAD := $(BUILD)/tests/libclock_ahead.so
SLOW_SYNC := $(BUILD)/tests/libslow_sync.so
BROKEN_DISK := $(BUILD)/tests/libbroken_disk.so
COUNTED_MEMORY := $(BUILD)/tests/libcounted_memory.so
$(FAILING_MEMORY) $(SLOW_DISK) $(FULL_DISK) $(CLOCK_AHEAD) $(SLOW_SYNC) $(BROKEN_DISK) $(COUNTED_MEMORY): $(BUILD)/tests/lib%.so: tests/preload/%.c | deps
	@mkdir -p $(@D)
	@$(CC) -std=gnu17 -O2 -Wall -Wextra -Werror -fPIC -fno-builtin -shared -D_GNU_SOURCE -o $@ $<
# A shared folder as another machine sees it; without libfuse it is not built, and its test is skipped.
NODE_VIEW := $(if $(shell pkg-config --exists fuse3 && echo yes),$(BUILD)/tests/node_view)
DISK_RECORDER := $(if $(NODE_VIEW),$(BUILD)/tests/disk_recorder)
$(BUILD)/tests/python/power_cut_test: | $(DISK_RECORDER)
$(BUILD)/tests/python/reference_test: | $(BUILD)/print-schema
$(BUILD)/tests/node_view $(BUILD)/tests/disk_recorder: $(BUILD)/tests/%: tests/faults/%.c | deps
	@mkdir -p $(@D)
	@$(CC) -std=gnu17 -O1 -Wall -Wextra -Werror -D_GNU_SOURCE $$(pkg-config --cflags fuse3) -o $@ $< $$(pkg-config --libs fuse3)
$(BUILD)/tests/faults/other_node_test: | $(NODE_VIEW)
$(BUILD)/tests/python/slurm_test: | $(NODE_VIEW) $(EMULATED_PLUGIN)
$(BUILD)/tests/unit/plugin_test: | $(GPU_PROGRAMS)
$(BUILD)/tests/gpu/programs_test: | $(STANDIN_PROGRAMS)
$(BUILD)/tests/python/seeded_faults_test: | $(BUILD)/tests/gpu/cuda_memory_test $(BUILD)/libdescent.a
$(BUILD)/tests/http/memory_test $(BUILD)/tests/http/session_memory_test $(BUILD)/tests/faults/worker_memory_test $(BUILD)/tests/python/start_memory_test: | $(FAILING_MEMORY)
$(BUILD)/tests/http/steady_memory_test: | $(COUNTED_MEMORY)
$(BUILD)/tests/http/slow_disk_test: | $(SLOW_DISK)
$(BUILD)/tests/http/full_disk_test: | $(FULL_DISK)
$(BUILD)/tests/http/siege_test: | $(CLOCK_AHEAD)
$(BUILD)/tests/python/machine_faults_test: | $(CLOCK_AHEAD) $(BROKEN_DISK)
$(BUILD)/tests/http/slow_disk_test $(BUILD)/tests/bench/load_bench: | $(SLOW_SYNC)
$(BUILD)/tests/faults/gpu_test $(BUILD)/tests/faults/gpu_shared_test $(BUILD)/tests/http/cli_here_test $(BUILD)/tests/http/gpus_test: | $(EMULATED_PLUGIN)
$(BUILD)/tests/faults/gpu_test $(BUILD)/tests/faults/gpu_shared_test: | $(STANDIN_PLUGIN)

.PHONY: tests
tests: $(TESTS) $(PYTHON_TESTS) $(WEB_TESTS) $(STRICT_TESTS) $(STANDIN_TESTS) $(GPU_PROGRAMS) $(EMULATED_PLUGIN) $(BUILD)/tests/figures/figures

include tests/fuzz/fuzz.mk

# The engine for another processor, and a program that prints what its kernels compute. The program's code is
# compiled with the pass that would fuse multiplications and additions if it were allowed to, and few others; the
# rest must only compile. A check compiles what the program links and all *_isa.c, and one group of tetrahedra with
# that pass.
ARM64_CC ?= aarch64-linux-gnu-gcc
ARM64_PART := $(filter check,$(MAKECMDGOALS))
export PLIANT_ARM64 := $(abspath build/arm64)
.PHONY: arm64
arm64: | test-deps
	@if command -v $(ARM64_CC) >/dev/null; then \
	  $(MAKE) --no-print-directory SAN= BUILD=build/arm64 ARCH=aarch64 CC=$(ARM64_CC) CFLAGS=-O0 ISA_OPTIMISE=-Wno-maybe-uninitialized \
	    ARM64_PART=$(ARM64_PART) $(if $(ARM64_PART),,build/arm64/libengine.a) build/arm64/kernels-hash; fi
$(addprefix build/arm64/obj/,tests/%.o engine/kernels/%.o engine/model/groups/$(if $(ARM64_PART),tets_neo_hookean_isa.base,%).o): PL_CFLAGS += -O1 -fexpensive-optimizations -fno-tree-dse
$(BUILD)/libkernels.a: $(call obj,engine/isa.c engine/scene/fault.c engine/model/local.c engine/model/materials.c engine/model/splines.c \
    $(addprefix engine/model/groups/,isa.c neo_hookean_around.c tets.c)) $(filter %_isa.base.o,$(ENGINE_OBJ))
$(BUILD)/kernels-hash: $(call obj,tests/arm64/kernels_hash_main.c tests/support/kernels_hash.c tests/support/kernels_probe.c) $(BUILD)/libkernels.a
	@$(CC) -static -o $@ $^ -lm

compile_commands.json: Makefile | deps
	@deploy/compile-commands '$(CC) $(PL_CFLAGS)' $(ENGINE_SRC) $(ENGINE_ISA_SRC) $(PROTOCOL_SRC) $(SERVER_SRC) \
	  $(wildcard server/worker/*.c) $(CLI_SRC) $(SUPPORT_SRC) $(TEST_SRC) $(BENCH_SRC) $(BENCH_HELP_SRC) $(WORKLOADS_SRC) tests/figures/figures.c \
	  clients/site/print_schema.c > $@

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)

##@ Running
.PHONY: demo
demo: $(filter-out %.so,$(PROGRAMS)) ## run the demo scene through a temporary daemon; leaves demo-out/
	@deploy/demo

.PHONY: figures
figures: $(BUILD)/tests/figures/figures ## draw figures 3, 6, 7 and 8 of Brown 2018 from runs of our own; leaves figures-out/
	@$< figures-out

##@ Checking
# In addition to every test program: those that read hostile bytes once more under sanitizers, and the fuzz
# targets for some seconds each. With SAN=, every test program under those sanitizers, in a separate folder;
# the sanitised part uses the plain build's kernels. A check links it from the objects of the fuzz targets, which
# saves a compilation of everything; at full length, or without clang, it is GCC's, and has threads.
SAN_BY_CLANG = $(if $(filter check-long,$(MAKECMDGOALS)),,$(shell tests/fuzz/available $(FUZZ_CC) >/dev/null && echo yes))
SAN_SRC := $(wildcard tests/unit/protocol_*_test.c tests/unit/mesh_*_test.c tests/unit/model_*_test.c) \
    tests/faults/worker_crash_test.c tests/faults/worker_run_test.c tests/http/hostile_test.c \
    $(addprefix tests/unit/contact_,$(addsuffix _test.c,close crossings measure memory points prox rows set))
SAN_TESTS = $(patsubst tests/%.c,$(if $(SAN_BY_CLANG),$(FUZZ),build/san-part)/tests/%,$(SAN_SRC))
.PHONY: sanitised
sanitised: all $(BUILD)/libemulated.a $(BUILD)/libcli.a | test-deps
	@if [ -n '$(SAN_BY_CLANG)' ]; then $(FUZZ_MAKE) sanitised-programs; else \
	  $(MAKE) --no-print-directory SAN=address,undefined BUILD=build/san-part KERNELS_BUILD=build CFLAGS='-O1 -g1' sanitised-programs; fi
.PHONY: sanitised-programs
sanitised-programs: $(filter-out %/pliant,$(PROGRAMS)) $(patsubst tests/%.c,$(BUILD)/tests/%,$(SAN_SRC))

# The device's tests on the stand-in, and those under sanitizers, run at full length only; a check has tests/gpu.
STANDIN_SANITISED = $(foreach s,address-undefined thread,$(patsubst $(BUILD)/%,build/san-standin-$(s)/%,$(STANDIN_CHECKS)))
.PHONY: standin-sanitised
standin-sanitised: all $(STANDIN_PLAIN) | test-deps
	@$(MAKE) --no-print-directory SAN=address,undefined standin-part
	@$(MAKE) --no-print-directory SAN=thread standin-part
ALL_CHECKS = $(TESTS) $(PYTHON_TESTS) $(STRICT_TESTS) \
             $(if $(filter check-long,$(MAKECMDGOALS)),$(STANDIN_TESTS) $(if $(SAN),,$(STANDIN_SANITISED))) \
             $(if $(SAN),,$(WEB_TESTS) $(SAN_TESTS) $(FUZZERS))
# The fast tier: unit tests and physics, except the slowest, which run in the check.
SLOW_TESTS := $(addprefix $(BUILD)/tests/physics/,$(addsuffix _test,descent device device_many device_splitting \
              device_stages device_touching gallery methods)) $(BUILD)/tests/unit/mesh_hostile_test
FAST_TESTS := $(filter-out $(SLOW_TESTS),$(filter $(BUILD)/tests/unit/% $(BUILD)/tests/physics/%,$(TESTS)))
.PHONY: test
test: all $(FAST_TESTS) ## run unit and physics tests, in two minutes after the build
	@PLIANT_BUILD=$(BUILD) tests/check-tree
	@tests/run-tests $(FAST_TESTS)

.PHONY: check
check: all tests arm64 $(if $(SAN),,sanitised fuzz-build) ## run every test that needs no GPU
	@PLIANT_BUILD=$(BUILD) tests/check-tree
	@FUZZ_SECONDS=5 FUZZ_SEED=1 tests/run-tests $(ALL_CHECKS)

.PHONY: check-long
check-long: all tests arm64 $(if $(SAN),,sanitised standin-sanitised fuzz-build) ## the same tests at full length (PLIANT_LONG=1)
	@PLIANT_BUILD=$(BUILD) tests/check-tree
	@PLIANT_LONG=1 TEST_TIMEOUT=$${TEST_TIMEOUT:-5400} tests/run-tests $(ALL_CHECKS)

.PHONY: check-slurm
check-slurm: all $(BUILD)/tests/python/slurm_test ## install Debian's Slurm and run sessions on a private cluster of two nodes, with failures
	@deploy/install-deps --slurm
	@PLIANT_LONG=1 TEST_TIMEOUT=5400 tests/run-tests $(BUILD)/tests/python/slurm_test

.PHONY: fuzz
fuzz: all fuzz-build ## run the fuzz targets [SECONDS=15 each] [TARGET=scene]
	@FUZZ_SECONDS=$(FUZZ_SECONDS) TEST_TIMEOUT=$$(($(FUZZ_SECONDS) + 900)) tests/run-tests $(FUZZERS)

.PHONY: golden
golden: $(BUILD)/tests/physics/golden_test ## rewrite the golden hashes (tests/physics/README.md says when)
	@PLIANT_BUILD=$(BUILD) tests/physics/golden

.PHONY: arm64-check
arm64-check: arm64 $(BUILD)/tests/unit/kernels_arm64_test ## cross-compile the engine for arm64, compare its kernels' bits under qemu
	@$(BUILD)/tests/unit/kernels_arm64_test

# The engine without CHOLMOD and zlib, for methods without a factor and generated meshes.
$(BUILD)/libdescent.a: $(filter-out %/cholmod.o %/inflate.o,$(ENGINE_OBJ))
$(GPU_PROGRAMS): $(BUILD)/gpu/gpu-%: $(BUILD)/obj/tests/gpu/gpu_%.o \
    $(call obj,tests/gpu/gpu_scene.c tests/gpu/no_factor.c tests/gpu/no_inflate.c) $(LIBRARIES_BUILD)/libemulated.a $(LIBRARIES_BUILD)/libdescent.a
	@mkdir -p $(@D)
	@$(CC) -o $@ $^ $(LDFLAGS_ALL) -ldl -lm
GPU_ARGS = $(if $(filter-out 0,$(QUICK)),--quick) $(ARGS)
.PHONY: gpu-check gpu-bench
gpu-check: $(BUILD)/gpu/gpu-check $(filter %.so,$(PROGRAMS)) ## compare a GPU's results with the CPU's, on a machine with a GPU [QUICK=1] [SANITIZER=1: under compute-sanitizer] [ARGS=--emulated]
	@$(if $(filter-out 0,$(SANITIZER)),tests/gpu/sanitize) $< $(GPU_ARGS)
	@$(if $(filter-out 0,$(SANITIZER)),:,echo "memory errors, leaks and unwritten memory of the kernels: make gpu-check SANITIZER=1 (QUICK=1 too: some of it; NVCCFLAGS=-lineinfo: with line numbers, after make clean)")
gpu-bench: $(BUILD)/gpu/gpu-bench $(filter %.so,$(PROGRAMS)) ## time a GPU [QUICK=1] [ARGS=--emulated]
	@$< $(GPU_ARGS)
# Its parts may fail, the build too, so that it needs nothing before.
.PHONY: gpu-report gpu-programs
gpu-report: ## run both and compute-sanitizer, and write one file to send: build/gpu-report.txt [QUICK=1]
	@+$(if $(findstring n,$(firstword -$(MAKEFLAGS))),: )BUILD='$(BUILD)' MAKE='$(MAKE)' tests/gpu/report $(if $(filter-out 0,$(QUICK)),--quick)
gpu-programs: $(GPU_PROGRAMS) $(filter %.so,$(PROGRAMS))
.PHONY: gpu-standin
gpu-standin: $(STANDIN_PROGRAMS) ## both on a stand-in for CUDA's runtime, without a GPU: results, and counts per iteration [QUICK=1]
	@$(BUILD)/standin/gpu/gpu-check $(GPU_ARGS) && $(BUILD)/standin/gpu/gpu-bench
# All tests of the device on the stand-in. With SAN=, its host side, the stand-in and the tests are instrumented, in a
# separate folder, and the rest is the plain build's (tests/README.md says why).
STANDIN_CHECKS := $(STANDIN_TESTS) $(STANDIN_UNIT_TESTS)
STANDIN_PLAIN := $(addprefix build/,libemulated.a libdescent.a libengine.a libsupport.a libworker.a libprotocol.a)
STANDIN_PART := $(if $(SAN),$(patsubst build/san-%,build/san-standin-%,$(BUILD)),$(BUILD))
.PHONY: standin-check standin-part standin-programs
standin-check: $(if $(SAN),standin-part,standin-programs) ## run the device's tests on that stand-in [SAN=address,undefined] [SAN=thread]
	@tests/run-tests $(patsubst $(BUILD)/%,$(STANDIN_PART)/%,$(STANDIN_CHECKS))
standin-programs: $(STANDIN_CHECKS) $(STANDIN_PROGRAMS)
standin-part:
	@$(MAKE) --no-print-directory SAN= BUILD=build $(STANDIN_PLAIN)
	@$(MAKE) --no-print-directory BUILD=$(STANDIN_PART) KERNELS_BUILD=build LIBRARIES_BUILD=build CFLAGS='-O1 -g1' standin-programs

.PHONY: bench
bench: all $(BENCHES) ## print the benchmark tables
	@PLIANT_BUILD=$(abspath $(BUILD)) tests/bench/run $(BENCHES)

# [PEERS=DIR] [HISTORY=FILE] [ONLY="solve_bench prox_bench"]: tests/bench/README.md
PAGE_BENCHES := $(addprefix $(BUILD)/tests/bench/,floor_bench solve_bench prox_bench frame_bench growth_bench case_a_bench)
HISTORY ?= tests/bench/results/history.jsonl
.PHONY: bench-page
bench-page: $(PAGE_BENCHES) ## measure the engine, keep the numbers, write build/bench.html [PEERS=DIR] [ONLY="solve_bench frame_bench"]
	@tests/bench/page measure --build $(BUILD) --history $(HISTORY) $(if $(PEERS),--peers '$(PEERS)') $(ONLY)
	@tests/bench/page render --history $(HISTORY) --out $(BUILD)/bench.html

.PHONY: instructions
instructions: $(BUILD)/tests/bench/workloads ## write tests/bench/instructions.tsv: after a change of the engine's speed, with valgrind
	@tests/bench/instructions --build $(BUILD) --write

.PHONY: openapi
openapi: $(BUILD)/pliantd ## write build/openapi.json, and its hash for the tests: after a change of routes, replies, problems or parameters
	@$(BUILD)/pliantd --openapi > $(BUILD)/openapi.json
	@sha256sum < $(BUILD)/openapi.json | cut -d' ' -f1 > tests/http/openapi.sha256

##@ Installing
# [PREFIX=/usr/local] [DESTDIR=] [SYSCONFDIR=/etc] [UNITDIR=] [PYTHONDIR=]
export DESTDIR PREFIX SYSCONFDIR UNITDIR PYTHONDIR
.PHONY: install uninstall
install: all ## programs, manuals, scenes, the Python client and a unit for systemd [PREFIX=/usr/local] [DESTDIR=]
	@BUILD=$(BUILD) PYTHON=$(PYTHON) deploy/install install
uninstall: ## remove the files of make install; state and a changed configuration stay
	@BUILD=$(BUILD) PYTHON=$(PYTHON) deploy/install uninstall

# [PACKAGE_ARGS=--source, --no-cuda; deploy/package --help]
.PHONY: deb wheel
deb: ## Debian packages in build/deb: pliant, python3-pliant, and with nvcc pliant-cuda [PACKAGE_ARGS=--source]
	@deploy/package $(PACKAGE_ARGS)
wheel: ## the Python package as a wheel and a source archive, in build/wheel
	@mkdir -p build/wheel
	@cd clients/python && $(PYTHON) -B -c 'import build_backend as b; \
	  print(b.build_sdist("../../build/wheel")); print(b.build_wheel("../../build/wheel"))'

##@ Tidying
FORMATTED = $(shell find engine protocol server clients tests -name '*.[ch]' -o -name '*.cu')
.PHONY: format
format: ## format every C file
	clang-format -i $(FORMATTED)

.PHONY: clean
clean: ## remove build/
	rm -rf build compile_commands.json

##@ Asking
.PHONY: info
info: ## print what was detected
	@echo "version    $(VERSION)"
	@echo "compiler   $$($(CC) --version | head -1)"
	@echo "flags      $(PL_CFLAGS)"
	@echo "kernels    $(foreach i,$(ISAS),$(i):$(ISA_FLAGS_$(i)))"
	@echo "processor  $$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $$(nproc) cores"
	@echo "packages   libmicrohttpd $$(pkg-config --modversion libmicrohttpd 2>/dev/null || echo missing), jansson $$(pkg-config --modversion jansson 2>/dev/null || echo missing), sqlite $$(pkg-config --modversion sqlite3 2>/dev/null || echo missing), check $$(pkg-config --modversion check 2>/dev/null || echo missing)"
	@echo "blas       $$(readlink -f /etc/alternatives/libblas.so.3-$(ARCH)-linux-gnu 2>/dev/null || echo unknown)"
	@echo "nvcc       $$(command -v nvcc >/dev/null && nvcc --version | sed -n 's/.*release //p' || echo 'not found (no GPU code is built)')"
	@echo "programs   $(PROGRAMS)"
	@echo "tests      $(words $(TESTS)) programs"

.PHONY: help
help: ## this list
	@echo "make [target] [SAN=address,undefined] [BUILD=dir] [V=1]"
	@awk 'BEGIN {FS = ":.*##"} /^##@/ {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-z0-9-]+:.*##/ {printf "  %-12s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))
