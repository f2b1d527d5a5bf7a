#!/bin/sh
# Builds the release of this directory on a Slurm cluster, as an array of jobs, each with a share of the packs.
# usage: slurm.sh SHARES [SBATCH OPTION…]
# The directory must be on storage that all nodes have at the same path, and packer at the same path, too.
# Run again after a failure, it goes on with what is in the cache that packer.yml names.
set -eu
shares=$1
shift

packer key derive -c packer.yml -o keys
# Slurm puts a job whose node fails into the queue again.
# No variable of this shell goes to the nodes but HOME, where rclone has its configuration; nor one of a profile there, which some versions of Slurm
# read all the same.
sbatch --wait --array="1-$shares" --requeue --export=NIL --job-name=packer --output=share-%a.log "$@" <<END
#!/bin/sh
exec env -i HOME=$HOME $(command -v packer) build --share "\$SLURM_ARRAY_TASK_ID/$shares" --only-cache --jobs "\$SLURM_CPUS_ON_NODE" --key keys
END
packer build
rm -r keys share-*.log
