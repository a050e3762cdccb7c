import time

import dcuop

op = dcuop.load_op("good")
op.good(x)
start = time.perf_counter()
op.good(x)
print(time.perf_counter() - start)
again = dcuop.load_op("good")
