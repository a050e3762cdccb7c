import torch


def load():
    """Not by dcuop.load_op."""
    torch.ops.load_library("bad.so")
