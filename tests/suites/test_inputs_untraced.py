"""The same promises where the kernel does not permit tracing: inputs are what depfiles and texts say."""

from __future__ import annotations

import pytest
from test_inputs import *  # noqa: F401,F403
from test_inputs_hip import TestPasses  # noqa: F401


@pytest.fixture
def environment(environment):
    return {**environment, "DCUOP_TRACE": "never"}
