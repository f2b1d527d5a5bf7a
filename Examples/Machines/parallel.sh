#!/bin/sh
# Builds the release of this directory with GNU parallel, here or with -S on hosts that have it at the same path.
# usage: parallel.sh SHARES [PARALLEL OPTION…]
# Run again after a failure, it goes on with what is in the cache that packer.yml names.
set -eu
shares=$1
shift

packer key derive -c packer.yml -o keys
# A share that fails is tried twice again, on another host if there is one. No variable of this shell goes to the workers but HOME, where rclone has its configuration.
seq "$shares" | parallel --will-cite --retries 3 --workdir "$PWD" "$@" \
  "env -i HOME=$HOME $(command -v packer) build --share {}/$shares --only-cache --jobs 1 --key keys"
packer build
rm -r keys
