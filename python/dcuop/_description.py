"""An extension as torch's loader is told of it -> a description for `dcuop build --from -` (docs/json.md)."""

from __future__ import annotations

import os
import re
import shlex
import sys
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from . import _interpreter
from ._errors import BuildError, EnvironmentProblem, UsageProblem

_CUDA = (".cu", ".cuh")
#: The directory in the cache that the files of a description are in.
_PLACED = r"/[^\n:]*?/v1/inline/[0-9a-f]{32}/"
_ARCH_FLAG = re.compile(r"^--?(?:offload-arch|amdgpu-target|cuda-gpu-arch)=(.+)$")


class Extension(NamedTuple):
    """Paths are absolute."""

    name: str
    kind: str  #: of an op: "pybind", "torch-library" or "executable"
    sources: List[str] = []
    files: Mapping[str, str] = {}  #: instead of sources: text by file name
    cxx_flags: List[str] = []
    hip_flags: List[str] = []
    link_flags: List[str] = []
    include_dirs: List[str] = []
    with_cuda: Optional[bool] = None  #: None: as the sources are
    with_sycl: bool = False
    allow_cpu_torch: bool = False
    label: str = ""  #: who asks: "train.py:12"

    @property
    def has_cuda_sources(self) -> bool:
        return any(path.endswith(_CUDA) for path in [*self.sources, *self.files])

    @property
    def has_device_sources(self) -> bool:
        return any(path.endswith((*_CUDA, ".hip")) for path in [*self.sources, *self.files])

    def at_originals(self, error: BuildError) -> BuildError:
        """Compilers name a source as it is called below the op's directory; people look for it where they are."""
        if not self.sources:
            return error
        try:
            places = self._originals()
        except UsageProblem:  # a file changed since
            return error
        with_blanks = [re.escape(name) for name in places if " " in name]
        spelled = "|".join([*with_blanks, r"[^\s:]+"])
        message = re.sub(
            rf"(?<![^\s'\"(])(?:{_PLACED})?({spelled}):(?=\d)",
            lambda match: f"{places[name]}:" if (name := os.path.normpath(match[1])) in places else match[0],
            error.message,
        )
        return type(error)(message, error.hint, error.exit_code, error.log)

    def _originals(self) -> Mapping[str, str]:
        if needs_hipify(self):
            from ._hipify import originals  # pylint: disable=import-outside-toplevel

            return originals(self)
        base = base_directory(self.sources)
        return {os.path.relpath(source, base): source for source in self.sources}


def flags_of(name: str, value: Any) -> List[str]:
    """torch joins them to a command for a shell, so that "-O3 -g" is two flags and quotes are taken off."""
    items = [value] if isinstance(value, str) else value or []
    if not isinstance(items, (list, tuple)) or not all(isinstance(item, str) for item in items):
        raise TypeError(f"{name} must be a sequence of str, not {value!r}")
    try:
        return shlex.split(" ".join(items))
    except ValueError as error:
        raise UsageProblem(f"{name}: {' '.join(items)}: {error}", "A quote is open.", 2) from error


def label_of_caller() -> str:
    """The first frame outside of dcuop and of torch's loader."""
    frame = sys._getframe(1)
    here = os.path.dirname(__file__)
    while frame is not None:
        file = frame.f_code.co_filename
        if os.path.dirname(file) != here and not file.endswith("cpp_extension.py"):
            return f"{file}:{frame.f_lineno}".encode("utf-8", "backslashreplace").decode()
        frame = frame.f_back  # type: ignore[assignment]
    return "load()"


def base_directory(sources: Sequence[str]) -> str:
    return os.path.commonpath([os.path.dirname(source) for source in sources])


def describe(extension: Extension, cache_dir: str = "") -> Tuple[Dict[str, Any], List[str]]:
    """The description, and the archs that its flags choose. Raises UsageProblem for what dcuop does not build.

    `cache_dir`: the cache that it is for, if it is not the one of the environment."""
    _check(extension)
    hip_flags, archs = _without_archs(extension.hip_flags)
    op = {"name": _identifier(extension), "kind": extension.kind}
    build: Dict[str, Any] = {
        "cxx_flags": extension.cxx_flags,
        "hip_flags": _torch_hip_flags(extension) + hip_flags,
        "link_flags": extension.link_flags,
        "allow_cpu_torch": extension.allow_cpu_torch,
        "archs": ["*"],
    }
    described: Dict[str, Any] = {"label": extension.label, "op": op, "build": build}
    if needs_hipify(extension):
        from ._hipify import hipify  # pylint: disable=import-outside-toplevel

        translated = hipify(extension, cache_dir)
        described["files"] = translated.files
        build["sources"] = translated.sources
        build["include_dirs"] = translated.include_dirs
    elif extension.files:
        described["files"] = dict(extension.files)
        build["sources"] = list(extension.files)
        build["include_dirs"] = extension.include_dirs
    else:
        base = base_directory(extension.sources)
        described["directory"] = base
        build["sources"] = [os.path.relpath(source, base) for source in extension.sources]
        build["include_dirs"] = extension.include_dirs
    return {"schema": 1, "python": _interpreter.describe(), "ops": [described]}, archs


def _torch() -> Any:
    try:
        import torch  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise EnvironmentProblem(
            f"torch cannot be imported here: {error}", f"Install it for {sys.executable}, or use its Python.", 3
        ) from error
    return torch


def needs_hipify(extension: Extension) -> bool:
    """As torch does on HIP: CUDA sources, or C++ that includes CUDA's headers (with_cuda, or a link with cuDNN)."""
    uses_cuda = extension.with_cuda or any("cudnn" in flag for flag in extension.link_flags)
    return extension.has_cuda_sources or bool(uses_cuda and _torch().version.hip)


class ForTorchAlone(UsageProblem):
    """Sources that only torch's own loader builds."""


def _why_for_torch_alone(extension: Extension) -> str:
    """Why dcuop does not build it; "" when it does."""
    if extension.with_sycl:
        return "SYCL sources"
    torch = _torch()
    if torch.version.cuda and not torch.version.hip and (extension.with_cuda or extension.has_cuda_sources):
        return f"CUDA sources, and torch {torch.__version__} is a CUDA build"
    return ""


def _check(extension: Extension) -> None:
    if not isinstance(extension.name, str):
        raise TypeError(f"name must be a str, not {type(extension.name).__name__}")
    if extension.kind == "pybind" and not extension.name.isidentifier():
        raise UsageProblem(
            f"{extension.label}: {extension.name!r} cannot be the name of a module",
            "It becomes PyInit_<name>: letters, digits and _, no digit first.",
            2,
        )
    if not extension.sources and not extension.files:
        raise UsageProblem(f"{extension.label}: {extension.name} has no sources", "", 2)
    for source in extension.sources:
        if not os.path.isfile(source):
            raise UsageProblem(f"{extension.label}: the source {source} of {extension.name} is no file", "", 2)
    torch = _torch()
    foreign = _why_for_torch_alone(extension)
    if extension.has_device_sources and not (torch.version.hip or extension.allow_cpu_torch or foreign):
        kind = "a CUDA build" if torch.version.cuda else "a CPU-only build"
        raise EnvironmentProblem(
            f"{extension.label}: {extension.name} has device code, and torch {torch.__version__} in {sys.executable} is"
            f" {kind}",
            "Use a Python whose torch is built for HIP, or allow_cpu_torch=True to build what cannot be launched here.",
            3,
        )
    if foreign:
        raise ForTorchAlone(
            f"{extension.label}: {extension.name} has {foreign}",
            "dcuop builds for HIP; this is for torch.utils.cpp_extension.load itself.",
            2,
        )


def _identifier(extension: Extension) -> str:
    """A library may be called anything; the file in the cache is called as an op is."""
    name = re.sub(r"\W", "_", extension.name, flags=re.ASCII)
    return name if name and not name[0].isdigit() else f"_{name}"


def _without_archs(flags: Sequence[str]) -> Tuple[List[str], List[str]]:
    kept: List[str] = []
    archs: List[str] = []
    for flag in flags:
        match = _ARCH_FLAG.match(flag)
        if match:
            archs += match.group(1).split(",")
        else:
            kept.append(flag)
    return kept, archs


def _torch_hip_flags(extension: Extension) -> List[str]:
    """What this torch gives every HIP unit beside what dcuop gives it itself."""
    torch = _torch()
    if not torch.version.hip or not extension.has_device_sources:
        return []
    from torch.utils import cpp_extension  # pylint: disable=import-outside-toplevel

    flags = [*getattr(cpp_extension, "COMMON_HIP_FLAGS", []), *getattr(cpp_extension, "COMMON_HIPCC_FLAGS", [])]
    return [flag for flag in flags if flag != "-fPIC" and not flag.startswith("-D__HIP_PLATFORM_AMD__")]
