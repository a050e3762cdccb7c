def reference(x):
    return x * 2
