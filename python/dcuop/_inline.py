"""load_inline's texts: what torch puts around the user's sources."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Sequence, Union

from ._errors import UsageProblem


def _texts(name: str, value: Any) -> List[str]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
        raise TypeError(f"{name} must be a str or a sequence of str, not {type(value).__name__}")
    return list(texts)


def main_source(
    sources: Union[str, Sequence[str]],
    functions: Union[str, Sequence[str], Mapping[str, str], None],
    with_error_handling: bool,
    with_headers: bool,
    gil_not_used: bool = False,
) -> str:
    """The C++ unit, with a module that binds `functions` (names, or names with docstrings) when there are any."""
    lines = (["#include <torch/extension.h>"] if with_headers else []) + _texts("cpp_sources", sources)
    bound = _docstrings(functions)
    if bound is not None:
        options = ", pybind11::mod_gil_not_used()" if gil_not_used else ""
        lines.append(f"PYBIND11_MODULE(TORCH_EXTENSION_NAME, m{options}) {{")
        for name, docstring in bound.items():
            target = f"torch::wrap_pybind_function({name})" if with_error_handling else name
            lines.append(f'm.def("{name}", {target}, {_c_string(docstring)});')
        lines.append("}")
    return "\n".join(lines) + "\n"


def cuda_source(sources: Union[str, Sequence[str]], with_headers: bool) -> str:
    """The CUDA unit, which hipify translates."""
    headers = ["#include <torch/types.h>", "#include <cuda.h>", "#include <cuda_runtime.h>"] if with_headers else []
    return "\n".join(headers + _texts("cuda_sources", sources)) + "\n"


def _docstrings(functions: Any) -> "Dict[str, str] | None":
    if functions is None:
        return None
    if isinstance(functions, str):
        functions = [functions]
    if isinstance(functions, (list, tuple)):
        functions = {name: name for name in functions}
    if not isinstance(functions, Mapping):
        raise ValueError(f"Expected 'functions' to be a list or dict, but was {type(functions)}")
    for name in functions:
        if not isinstance(name, str) or not name:
            raise UsageProblem(f"functions: {name!r} is no name of a function", "", 2)
    return {name: str(docstring) for name, docstring in functions.items()}


def _c_string(text: str) -> str:
    """UTF-8 as octal escapes, which unlike \\x end after three digits."""
    plain = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "?": "\\?"}
    return '"' + "".join(
        plain.get(character)
        or (character if " " <= character <= "~" else "".join(f"\\{byte:03o}" for byte in character.encode()))
        for character in text
    ) + '"'
