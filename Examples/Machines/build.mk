# Builds the release of this directory: make -f build.mk -j SHARES=8
# Run again after a failure, it goes on with what is in the cache that packer.yml names.
SHARES ?= 4
shares := $(addprefix share-,$(shell seq $(SHARES)))

.PHONY: release keys $(shares)

release: $(shares)
	packer build
	rm -r keys

# No variable of this shell goes to the workers but HOME, where rclone has its configuration.
$(shares): share-%: keys
	env -i HOME=$$HOME $(shell command -v packer) build --share $*/$(SHARES) --only-cache --jobs 1 --key keys

keys:
	packer key derive -c packer.yml -o keys
