import torchair


def run(x, y):
    with torchair.scope.super_kernel("decode", "feed-sync-all=1:dcci-after-kernel-end=Add"):
        return x + y
