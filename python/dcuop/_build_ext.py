"""build_ext: setuptools' command, which takes torch extensions from dcuop's cache or builds them into it.

    from setuptools import setup
    from torch.utils.cpp_extension import CppExtension
    import dcuop
    setup(name="affine", ext_modules=[CppExtension("affine._C", ["binding.cpp"])],
          cmdclass={"build_ext": dcuop.build_ext})
"""

from __future__ import annotations

import os
import shutil
import sys
from typing import Any, Dict, List, Type

from setuptools.command.build_ext import build_ext as _build_ext  # type: ignore[import-untyped]

try:
    from setuptools.errors import CompileError  # type: ignore[import-untyped]
except ImportError:  # the setuptools that Python 3.8 and 3.9 come with, before 59
    from distutils.errors import CompileError

from ._description import Extension, describe
from ._errors import DcuopError
from ._extension import Order, build

# What CppExtension and CUDAExtension of torch 1.13 to 2.11 link; dcuop does it itself.
_TORCH_LIBRARIES = {
    *("c10", "torch", "torch_cpu", "torch_python", "c10_hip", "torch_hip", "amdhip64"),
    *("c10_cuda", "torch_cuda", "cudart", "torch_cuda_cu", "torch_cuda_cpp"),
}


class build_ext(_build_ext):  # pylint: disable=invalid-name
    """In the place of torch.utils.cpp_extension.BuildExtension. Extensions that do not link torch are built as
    setuptools does."""

    #: of with_options()
    no_python_abi_suffix = False
    allow_cpu_torch = False

    @classmethod
    def with_options(cls, **options: Any) -> Type["build_ext"]:
        """A command with these options: `no_python_abi_suffix`, as BuildExtension has it, and `allow_cpu_torch`, as
        dcuop.load() has it. `use_ninja` is taken and without effect."""
        options.pop("use_ninja", None)
        unknown = set(options) - {"no_python_abi_suffix", "allow_cpu_torch"}
        if unknown:
            raise TypeError(f"build_ext.with_options() knows no {', '.join(sorted(unknown))}")
        return type("build_ext", (cls,), options)

    def build_extension(self, ext: Any) -> None:
        if not _links_torch(ext):
            super().build_extension(ext)
            return
        try:
            description, archs = describe(_described(ext, self.allow_cpu_torch))
            # What setuptools shows is progress; the compilers' lines are in the log.
            arguments = ["--from", "-", *(["--arch", ",".join(archs)] if archs else [])]
            if self.force:
                arguments.append("--force")
            op = build(Order(arguments, {}, True, description))
        except DcuopError as error:
            raise CompileError(str(error)) from error
        target = self.get_ext_fullpath(ext.name)
        os.makedirs(os.path.dirname(os.path.abspath(target)), exist_ok=True)
        # Not over the old file: a process may have it loaded.
        shutil.copy2(op["path"], target + ".new")
        os.chmod(target + ".new", 0o755)
        os.replace(target + ".new", target)

    def get_ext_filename(self, fullname: str) -> str:
        name = super().get_ext_filename(fullname)
        if not self.no_python_abi_suffix:
            return name
        directory, file = os.path.split(name)
        parts = file.split(".")
        return os.path.join(directory, f"{parts[0]}.{parts[-1]}")


def _links_torch(ext: Any) -> bool:
    return "torch" in ext.libraries or "c10" in ext.libraries


def _described(ext: Any, allow_cpu_torch: bool) -> Extension:
    name = ext.name.rpartition(".")[2]
    arguments = ext.extra_compile_args
    by_compiler: Dict[str, List[str]] = (
        arguments if isinstance(arguments, dict) else {"cxx": arguments, "nvcc": arguments}
    )
    macros = [f"-D{key}" if value is None else f"-D{key}={value}" for key, value in ext.define_macros]
    macros += [f"-U{key}" for key in ext.undef_macros]
    return Extension(
        name=name,
        kind="pybind",
        sources=[os.path.abspath(source) for source in ext.sources],
        cxx_flags=_own(by_compiler.get("cxx", [])) + macros,
        hip_flags=_own(by_compiler.get("nvcc", [])) + macros,
        link_flags=_link_flags(ext),
        include_dirs=[os.path.abspath(path) for path in ext.include_dirs if not _is_torchs(path)],
        allow_cpu_torch=allow_cpu_torch,
        label=f"{os.path.abspath(sys.argv[0])}: {ext.name}",
    )


def _own(flags: Any) -> List[str]:
    """Without what dcuop and torch's own command set: setuptools hands over words, not text for a shell."""
    return [flag for flag in flags if not flag.startswith(("-DTORCH_EXTENSION_NAME=", "-D_GLIBCXX_USE_CXX11_ABI="))]


def _link_flags(ext: Any) -> List[str]:
    flags = [os.path.abspath(path) for path in ext.extra_objects]
    flags += [f"-L{os.path.abspath(path)}" for path in ext.library_dirs if not _is_torchs(path)]
    flags += [f"-Wl,-rpath,{path}" for path in ext.runtime_library_dirs]
    flags += [f"-l{library}" for library in ext.libraries if library not in _TORCH_LIBRARIES]
    return flags + list(ext.extra_link_args)


def _is_torchs(path: str) -> bool:
    import torch  # pylint: disable=import-outside-toplevel

    home = os.path.dirname(os.path.abspath(torch.__file__))
    return os.path.abspath(path).startswith(home + os.sep)
