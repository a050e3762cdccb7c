"""Runs a script once and counts what it does with an operator.

    python -m dcuop._verify._e2e_child SCRIPT DIRECTORY RESULT.json [--calls-only]

The script is run as `python SCRIPT` would run it. RESULT.json gets {"calls", "counts", "peak_memory"} however the script
ends. With --calls-only torch's operations are left alone: some programs do not run while they are watched.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import traceback
from typing import List

from ._e2e_counts import Counts, counting


def main(arguments: List[str]) -> int:
    script, directory, result = arguments[:3]
    operations = "--calls-only" not in arguments[3:]
    sys.argv = [script]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    counts = Counts()
    try:
        with counting(counts, directory, operations):
            runpy.run_path(script, run_name="__main__")
        return 0
    except SystemExit as error:
        if isinstance(error.code, str):
            print(error.code, file=sys.stderr)
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    except Exception:  # pylint: disable=broad-except
        traceback.print_exc()
        return 1
    finally:
        with open(result, "w", encoding="utf-8") as file:
            json.dump(counts.to_json(operations), file)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
