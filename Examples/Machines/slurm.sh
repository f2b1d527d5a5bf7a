#!/bin/sh
# Builds the release of this directory on a Slurm cluster, as an array of jobs, each with a share of the packs.
# usage: slurm.sh SHARES [SBATCH OPTION…]
# The directory must be on storage that all nodes have at the same path, and packer at the same path, too.
# Run again after a failure, it goes on with the plan that is there. To begin anew, remove plan.json, keys and parts first.
set -eu
shares=$1
shift

[ -e plan.json ] || packer build --plan plan.json
packer key derive --plan plan.json -o keys
# Slurm puts a job whose node fails into the queue again. Units that are there are not made again.
# No variable of this shell goes to the nodes but HOME, where rclone has its configuration, for a cache; nor one of a profile there, which some versions
# of Slurm read all the same.
sbatch --wait --array="1-$shares" --requeue --export=NIL --job-name=packer --output=share-%a.log "$@" <<END
#!/bin/sh
exec env -i HOME=$HOME $(command -v packer) build --plan plan.json --share "\$SLURM_ARRAY_TASK_ID/$shares" --jobs "\$SLURM_CPUS_ON_NODE" --keys keys -o parts
END
# There are no parts if no pack changed.
if [ -d parts ]; then packer assemble parts; else packer assemble; fi
rm -rf plan.json keys parts share-*.log
