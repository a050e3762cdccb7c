import dcuop


def load():
    return dcuop.load_op("good")
