# Files embedded in the daemon: the dashboard, bundled by esbuild, and the gallery's scenes. deploy/embed
# embeds both as they are and gzipped. Without npm, or with NPM=, the dashboard is left out.
# DASHBOARD=DIR uses one that was built elsewhere, as packages do.

NPM ?= npm
DASHBOARD ?=
WEB := build/web
WEB_SRC := $(sort $(shell find clients/web -type f ! -path '*/node_modules/*' ! -name '*.md'))
EMBEDDED_SRC := $(WEB)/web_files.c $(WEB)/gallery_files.c

$(WEB)/made: $(WEB_SRC) deploy/build-pages | deps
	@NPM='$(NPM)' BUILT='$(DASHBOARD)' deploy/build-pages 'the dashboard' web clients/web $(WEB)
$(WEB)/web_files.c: $(WEB)/made deploy/embed
	@deploy/embed pl_web_files $(WEB)/dist $@
$(WEB)/gallery_files.c: $(wildcard clients/scenes/*.json) deploy/embed | deps
	@deploy/embed pl_gallery_files clients/scenes $@ '*.json'
# make web: build again, even if nothing changed
ifneq ($(filter web,$(MAKECMDGOALS)),)
.PHONY: $(WEB)/made
endif
