# PHP's own test scripts: make phpt [TARGET=fiber] [IN_FLIGHT=32] [CHAOS=7] [OPCACHE=1] [AUDIT=1] [DIRS="Zend/tests ext/spl"] [SEED=n]

PHPT_ARGS = --target $(TARGET) $(if $(IN_FLIGHT),--in-flight $(IN_FLIGHT)) $(if $(CHAOS),--chaos $(CHAOS)) $(if $(OPCACHE),--opcache $(OPCACHE)) \
            $(if $(AUDIT),--audit $(AUDIT)) $(if $(SEED),--seed $(SEED)) $(if $(OUT),--out $(OUT)) $(if $(ONLY),--only $(ONLY)) \
            $(if $(DIRS),--dirs $(DIRS))

.PHONY: phpt
phpt: setup
	$(call build_quietly,build)
	@$(PYTHON) -m harness.phpt $(PHPT_ARGS)
