"""super_kernel("scope", "dcci-after-kernel-start=Add") in a docstring is text."""
import torchair


def super_kernel(scope, options="no=option"):
    return torchair.scope.super_kernel(scope, options)


def run(x, y, name):
    # super_kernel("decode", "dcci-after-kernel-start=Add")
    with super_kernel("decode"), torchair.scope.super_kernel(None):
        x = x + y
    with torchair.scope.super_kernel("decode", f"dcci-after-kernel-end={name}"):
        return make_super_kernel("decode", "no=option") and x

with torchair.scope.super_kernel("without", options=""):
    pass
with torchair.scope.super_kernel("without", ""):
    pass
