# The comparison with php-fpm, byte for byte.
#   make differential [TARGET=fiber] [IN_FLIGHT=32] [CHAOS=7] [OPCACHE=0|1] [ROUNDS=3] [MIXED=30000] [FATALS=0.10] [ONLY=name]

COMPARED = --target $(TARGET) $(if $(IN_FLIGHT),--in-flight $(IN_FLIGHT)) $(if $(CHAOS),--chaos $(CHAOS)) \
           $(if $(OPCACHE),--opcache $(OPCACHE)) $(if $(SEED),--seed $(SEED)) $(if $(JSON),--json $(JSON))

.PHONY: differential
differential: setup
	$(call build_quietly,build)
	@$(PYTHON) -m harness.differential $(COMPARED) $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(MIXED),--mixed $(MIXED)) \
	    $(if $(FATALS),--fatals $(FATALS)) $(if $(ONLY),--only '$(ONLY)')
