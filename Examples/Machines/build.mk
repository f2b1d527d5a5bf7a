# Builds the release of this directory: make -f build.mk -j SHARES=8
# Run again after a failure, it goes on with the plan that is there. To begin anew, remove plan.json, keys and parts first.
SHARES ?= 4
shares := $(addprefix share-,$(shell seq $(SHARES)))

.PHONY: release keys $(shares)

# There are no parts if no pack changed.
release: $(shares)
	if [ -d parts ]; then packer assemble parts; else packer assemble; fi
	rm -rf plan.json keys parts

# What is there already is not made again. No variable of this shell goes to the workers but HOME, where rclone has its configuration, for a cache.
$(shares): share-%: keys
	env -i HOME=$$HOME $(shell command -v packer) build --plan plan.json --share $*/$(SHARES) --jobs 1 --keys keys -o parts

keys: plan.json
	packer key derive --plan plan.json -o keys

plan.json:
	packer build --plan $@
