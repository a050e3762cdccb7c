"""dcuop from Python: build an operator when that is needed, and import it.

    import dcuop
    affine = dcuop.load_op("ops/affine")

Everything is decided by the dcuop program; this package runs it, takes the lock that keeps the result in the
cache, imports the file, and turns a failure into an exception that says why.
"""

from ._errors import (
    BuildError,
    BuildForbiddenError,
    DcuopError,
    EnvironmentProblem,
    Finding,
    LockTimeoutError,
    OpLoadError,
    ProgramNotFoundError,
    UsageProblem,
)
from ._load import load_op
from ._torch_loader import load, load_inline

__all__ = [
    "BuildError",
    "BuildForbiddenError",
    "DcuopError",
    "EnvironmentProblem",
    "Finding",
    "LockTimeoutError",
    "OpLoadError",
    "ProgramNotFoundError",
    "UsageProblem",
    "load",
    "load_inline",
    "load_op",
]
