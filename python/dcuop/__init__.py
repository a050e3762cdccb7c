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
from ._install import install, uninstall
from ._load import load_op
from ._torch_loader import load, load_inline

__all__ = [
    "build_ext",
    "BuildError",
    "BuildForbiddenError",
    "DcuopError",
    "EnvironmentProblem",
    "Finding",
    "LockTimeoutError",
    "OpLoadError",
    "ProgramNotFoundError",
    "UsageProblem",
    "install",
    "load",
    "load_inline",
    "load_op",
    "uninstall",
]


def __getattr__(name: str) -> object:
    # setuptools takes long to import, and those who load need none.
    if name == "build_ext":
        from ._build_ext import build_ext  # pylint: disable=import-outside-toplevel

        return build_ext
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
