"""The same promises where the kernel does not permit tracing: inputs are what depfiles and texts say.

For `make full` (DCUOP_FULL=1)."""

from __future__ import annotations

import pytest
from changed_inputs import full_only
from test_inputs import *  # noqa: F401,F403
from test_inputs_hip import TestPasses  # noqa: F401

pytestmark = full_only


@pytest.fixture
def environment(environment):
    return {**environment, "DCUOP_TRACE": "never"}
