"""Where the cache is, as dcuop itself chooses it (src/cli/config.cpp), but for what the user's config.toml says."""

from __future__ import annotations

import os
from typing import Mapping, Optional


def cache_directory(environment: Mapping[str, str]) -> Optional[str]:
    """Absolute; None where neither variables nor a home name a place."""
    named = environment.get("DCUOP_CACHE_DIR")
    if named:
        return os.path.abspath(os.path.expanduser(named))
    shared = environment.get("XDG_CACHE_HOME") or ""
    # A relative one is to be ignored: https://specifications.freedesktop.org/basedir-spec/latest/
    base = shared if os.path.isabs(shared) else os.path.join(environment.get("HOME") or "", ".cache")
    return os.path.join(base, "dcuop") if os.path.isabs(base) else None
