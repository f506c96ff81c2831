# The documentation site, put into the daemon as the dashboard is (clients/web/web.mk). Without npm, or with NPM= given,
# it is left out. DOCS=DIR takes one that was built elsewhere, as packages do.

DOCS ?=
SITE := build/docs
SITE_SRC := $(sort $(shell find clients/site -type f ! -path '*/node_modules/*' ! -name '*.md') $(wildcard clients/docs/* \
            clients/*/README.md clients/scenes/* clients/web/pictures/* deploy/*.md deploy/batch/README.md .github/SECURITY.md \
            protocol/README.md) clients/web/src/icon.svg clients/web/src/showcase.js Makefile)
# What the generated pages ask. It is older than the daemon, which has the pages in it.
SITE_PROGRAMS := $(if $(NPM),$(if $(DOCS),,$(if $(wildcard clients/site/print_schema.c),$(BUILD)/print-schema)))
EMBEDDED_SRC += $(SITE)/docs_files.c

# A sanitised build takes the pages of the plain one.
$(SITE)/made: $(SITE_SRC) $(if $(filter build,$(BUILD)),$(SITE_PROGRAMS)) deploy/build-pages | deps $(SITE_PROGRAMS)
	@NPM='$(NPM)' BUILT='$(DOCS)' deploy/build-pages 'the documentation' docs clients/site $(SITE) $(abspath $(BUILD))
$(SITE)/docs_files.c: $(SITE)/made deploy/embed
	@deploy/embed pl_docs_files $(SITE)/dist $@
# make docs: again, also where nothing changed
ifneq ($(filter docs,$(MAKECMDGOALS)),)
.PHONY: $(SITE)/made
endif
