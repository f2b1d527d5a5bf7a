#!/bin/sh
# Builds the release of this directory with GNU parallel, here or with -S on hosts that have it at the same path.
# usage: parallel.sh SHARES [PARALLEL OPTION…]
# Run again after a failure, it goes on with the plan that is there. To begin anew, remove plan.json, keys and parts first.
set -eu
shares=$1
shift

[ -e plan.json ] || packer build --plan plan.json
packer key derive --plan plan.json -o keys
# A share that fails is tried twice again, on another host if there is one. No variable of this shell goes to the workers but HOME, where rclone has its configuration, for a cache.
seq "$shares" | parallel --will-cite --retries 3 --workdir "$PWD" "$@" \
  "env -i HOME=$HOME $(command -v packer) build --plan plan.json --share {}/$shares --jobs 1 --keys keys -o parts"
# There are no parts if no pack changed.
if [ -d parts ]; then packer assemble parts; else packer assemble; fi
rm -rf plan.json keys parts
