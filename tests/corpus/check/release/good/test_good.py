import pytest
import torch

from .loader import load
from .reference import reference


@pytest.mark.parametrize("count", [0, 1, 255, 257, 4096])
def test_it_computes_what_the_reference_does(count):
    x = torch.randn(count, device="cuda")
    torch.testing.assert_close(load().good(x), reference(x))


def test_another_dtype_is_refused():
    with pytest.raises(RuntimeError, match="float32"):
        load().good(torch.ones(2, dtype=torch.int))
