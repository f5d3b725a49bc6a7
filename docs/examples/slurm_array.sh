#!/bin/bash
#SBATCH --job-name=collab-overcooked
#SBATCH --array=0-4
#SBATCH --cpus-per-task=1
#SBATCH --time=00:30:00
# A training for each task of the array, whose number is its seed; arguments are those of `train`. A task that is started again resumes.
set -euo pipefail
collab-overcooked train ppo --config cramped_room --seed "$SLURM_ARRAY_TASK_ID" --out "runs/ppo/seed_$SLURM_ARRAY_TASK_ID" "$@"
