"""Which of the processes of a job this is: 64 ranks should not say the same thing 64 times."""

from __future__ import annotations

import os

# torchrun; Open MPI; MPICH and Intel MPI; Slurm. Local ranks last: they tell only the processes of one host apart.
_RANK_VARIABLES = (
    "RANK",
    "OMPI_COMM_WORLD_RANK",
    "PMI_RANK",
    "SLURM_PROCID",
    "LOCAL_RANK",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "SLURM_LOCALID",
)


def speaks() -> bool:
    """True for rank 0, and where there are no ranks."""
    for variable in _RANK_VARIABLES:
        value = os.environ.get(variable, "")
        if value.isdigit():
            return int(value) == 0
    return True
