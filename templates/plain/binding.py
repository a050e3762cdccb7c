"""The operator as Python sees it: every demand on the arguments is checked here, before anything is queued.

Nothing is converted or copied behind the caller's back: what does not fit is refused.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import math
import numbers

import torch

from .loader import load


def affine(x: torch.Tensor, scale: float, bias: float) -> torch.Tensor:
    """y = x * scale + bias. `x`: contiguous float16 on a DCU; anything else is refused, never converted.

    Queued on the current stream of x's device. Raises TypeError for what is no tensor or number, RuntimeError for
    one that breaks the contract.
    """
    library = _library()
    backend = library.affine_backend().decode()
    _check_device(x, backend)
    _check_tensor(x)
    narrow_scale = _to_float32(scale, "scale")
    narrow_bias = _to_float32(bias, "bias")
    on_device = contextlib.nullcontext() if backend == "host" else torch.cuda.device(x.device)
    with on_device:
        y = torch.empty_like(x)
        if x.numel() == 0:
            return y
        stream = None if backend == "host" else torch.cuda.current_stream(x.device).cuda_stream
        error = library.affine_launch(x.data_ptr(), y.data_ptr(), x.numel(), narrow_scale, narrow_bias, stream)
    if error != 0:
        raise RuntimeError(f"affine: launch on {x.device} failed: {library.affine_error_string(error).decode()}")
    return y


@functools.lru_cache(maxsize=None)
def _library() -> ctypes.CDLL:
    """The library with what op.h declares: without it, ctypes would cut pointers and counts to 32 bits."""
    library = load()
    library.affine_launch.argtypes = [
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_int64,
        ctypes.c_float,
        ctypes.c_float,
        ctypes.c_void_p,
    ]
    library.affine_launch.restype = ctypes.c_int
    library.affine_error_string.argtypes = [ctypes.c_int]
    library.affine_error_string.restype = ctypes.c_char_p
    library.affine_backend.restype = ctypes.c_char_p
    return library


def _check_device(x: torch.Tensor, backend: str) -> None:
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"affine: x must be a tensor, got {type(x).__name__}")
    # A HIP torch calls its devices "cuda".
    kind, words = {
        "hip": ("cuda", "a DCU device"),
        "cuda": ("cuda", "a CUDA device"),
        "host": ("cpu", "the CPU, where this build emulates the grid"),
    }[backend]
    if x.device.type != kind:
        raise RuntimeError(f"affine: x must be on {words}, got {x.device}")


def _check_tensor(x: torch.Tensor) -> None:
    if x.dtype != torch.float16:
        raise RuntimeError(f"affine: x must be float16, got {str(x.dtype).split('.')[-1]}")
    if x.layout != torch.strided:
        raise RuntimeError(f"affine: x must be strided, got layout {x.layout}")
    if not x.is_contiguous():
        raise RuntimeError(f"affine: x must be contiguous, got sizes {tuple(x.shape)} with strides {x.stride()}")
    if x.is_neg():
        raise RuntimeError("affine: x must not be a lazily negated view; call x.resolve_neg() first")
    if x.requires_grad and torch.is_grad_enabled():
        raise RuntimeError(
            "affine: x requires grad, and affine has no backward; call it under torch.no_grad() or on x.detach()"
        )


def _to_float32(value: float, name: str) -> float:
    if not isinstance(value, numbers.Real):
        raise TypeError(f"affine: {name} must be a number, got {type(value).__name__}")
    narrowed = ctypes.c_float(value).value
    if math.isfinite(value) and not math.isfinite(narrowed):
        raise RuntimeError(f"affine: {name} = {value} does not fit in float32")
    return narrowed
