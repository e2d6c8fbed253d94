# The findings matrix: make audit [FINDING=B1,B7] [COLUMN=audited,fixed,php-fpm] [TARGET=name|file] [REPEAT=20] [JSON=1]

AUDIT_DEFECTS := build/defects
AUDIT_TARGET = $(if $(filter command environment,$(firstword $(origin TARGET))),$(TARGET))
AUDIT_ARGS = $(if $(FINDING),--finding $(FINDING)) $(if $(COLUMN),--column $(COLUMN)) $(if $(AUDIT_TARGET),--target $(AUDIT_TARGET)) \
             $(if $(REPEAT),--repeat $(REPEAT)) $(if $(JOBS),--jobs $(JOBS)) $(if $(OUT),--out $(OUT)) $(if $(JSON),--json)
# What the columns need; a column whose server cannot be built is said to be "not measured".
AUDIT_COLUMNS = $(if $(AUDIT_TARGET)$(COLUMN),$(COLUMN) $(AUDIT_TARGET),audited fixed)
AUDIT_BUILDS_DEFECTS = $(findstring audited,$(AUDIT_COLUMNS))
AUDIT_BUILDS_FIXED = $(findstring fixed,$(AUDIT_COLUMNS))$(findstring fiber,$(AUDIT_COLUMNS))

.PHONY: audit
audit: setup
	$(call build_quietly,build)
	@$(if $(AUDIT_BUILDS_FIXED),$(MAKE) --no-print-directory -s -j2 $(BUILD)/bin/fiber-fpm >&2 || echo 'audit: fiber-fpm was not built' >&2)
	@$(if $(AUDIT_BUILDS_DEFECTS),$(MAKE) --no-print-directory -s -j2 BUILD=$(AUDIT_DEFECTS) EXTRA_CFLAGS=-DORDEAL_DEFECTS \
	    $(AUDIT_DEFECTS)/bin/fiber-fpm >&2 || echo 'audit: the server with planted defects was not built' >&2)
	@$(PYTHON) -m harness.findings $(AUDIT_ARGS)
