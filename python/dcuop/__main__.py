"""python -m dcuop: the dcuop program, for this interpreter; and

    python -m dcuop run script.py ARG...      as python script.py ARG..., with torch's loader routed through dcuop
    python -m dcuop run -m package.module ARG...

Processes that the script starts are routed too, where dcuop is installed (DCUOP_INSTALL=1).
"""

from __future__ import annotations

import os
import runpy
import sys
from typing import List

from ._errors import DcuopError
from ._install import install
from ._program import find_program


def main(arguments: List[str]) -> int:
    if arguments[:1] == ["run"]:
        return _run(arguments[1:])
    try:
        program = find_program()
        environment = {"DCUOP_PYTHON": sys.executable, **os.environ}
        os.execve(program, [program, *arguments], environment)
    except DcuopError as error:
        print(f"dcuop: {error}", file=sys.stderr)
        return 3


def _run(arguments: List[str]) -> int:
    by_module = arguments[:1] == ["-m"]
    wanted = arguments[1:2] if by_module else arguments[:1]
    if not wanted or (wanted[0].startswith("-") and not by_module):
        print((__doc__ or "").strip(), file=sys.stderr)
        return 2
    os.environ["DCUOP_INSTALL"] = "1"
    install()
    name = wanted[0]
    sys.argv = [name, *arguments[2 if by_module else 1 :]]
    if by_module:
        sys.path[0] = os.getcwd()
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    else:
        if not os.path.exists(name):
            print(f"dcuop: there is no {name}", file=sys.stderr)
            return 2
        sys.path[0] = os.path.dirname(os.path.abspath(name))
        runpy.run_path(name, run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
