"""What this interpreter is, in the words in which the program would have asked it (src/probe/python.cpp)."""

from __future__ import annotations

import os
import sys
import sysconfig
from typing import Any, Dict, Iterable, List


def _texts(paths: Iterable[str]) -> List[str]:
    """Without those that are no UTF-8: JSON could not carry them."""
    found = []
    for path in paths:
        try:
            found.append(os.fsencode(path).decode("utf-8"))
        except (TypeError, UnicodeDecodeError):
            continue
    return [text for text in found if text]


# When this module is imported, which happens once: sysconfig fills its variables when they are first asked for, where other
# threads see them half filled (https://github.com/python/cpython/issues/92452).
_FIXED = {
    "executable": sys.executable,
    "version": sys.version.split()[0],
    "implementation": sys.implementation.name,
    "ext_suffix": sysconfig.get_config_var("EXT_SUFFIX") or "",
    "soabi": sysconfig.get_config_var("SOABI") or "",
    "include": sysconfig.get_path("include"),
    "prefix": sys.prefix,
    "base_prefix": sys.base_prefix,
}


def describe() -> Dict[str, Any]:
    """The "python" of a description (docs/json.md)."""
    search_path = _texts(sys.path)
    torch = sys.modules.get("torch")
    file = getattr(torch, "__file__", None)
    if file:
        # The torch that is in this process is the one to build for, wherever it came from.
        home = os.path.dirname(os.path.dirname(os.path.abspath(file)))
        search_path = _texts([home]) + [path for path in search_path if path != home]
    return {**_FIXED, "search_path": search_path}
