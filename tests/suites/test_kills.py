"""A short run of the kill harness; `make kill-test` is the long one."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

HARNESS = Path(__file__).resolve().parents[1] / "kill" / "kill_harness.py"


def test_twenty_kills_leave_a_whole_cache(dcuop_binary, tmp_path):
    done = subprocess.run(
        [sys.executable, str(HARNESS), "--dcuop", str(dcuop_binary), "--kills", "20", "--directory", str(tmp_path / "kill")],
        capture_output=True, encoding="utf-8", timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    kills = re.search(r"(\d+) kills \(", done.stdout)
    assert kills and int(kills.group(1)) >= 20, done.stdout  # a round may kill two
    assert "0 damaged entries, 0 hangs, 0 stale results" in done.stdout
