import torch
import torchair

OPTIONS = "feed-sync-all=2"


def run(x, y):
    with torchair.scope.super_kernel("decode", "dcci-after-kernel-start=Add"):  #! DCU820
        x = x + y
    with torchair.scope.super_kernel("decode", options=OPTIONS):  #! DCU821
        x = x + y
    with torchair.scope.super_kernel(
        "decode",
        "stream-fusion=1:"  #! DCU821
        "stream-fusion=1",
    ):
        return x * y


model = torch.compile(
    run,
    backend="npugraph_ex",
    options={
        "static_kernel_compile": True,
        "super_kernel_optimize_options": {
            "split_mode": 3,
            "dcci_after_kernel_start": ["add.*"],  #! DCU820
        },
    },
)
