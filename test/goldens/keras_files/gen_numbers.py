"""Writes models of Keras 3 and 2 in which whole numbers meet numbers of Python: python gen_numbers.py FOLDER

FOLDER/numbers.json has what they compute.
"""
import json
import os
import sys

import keras as keras3
import numpy as np
import tf_keras as keras2

FOLDER = sys.argv[1]
WORDS = np.array([[3, -7], [16777217, 2147483]], "int32")
CASES = []


def save(name, keras, compute, extensions=("keras",)):
    x = keras.Input((2,), dtype="int32")
    model = keras.Model(x, compute(x))
    for extension in extensions:
        model.save(os.path.join(FOLDER, f"{name}.{extension}"))
    y = np.asarray(model(WORDS))
    CASES.append({"name": name, "values": WORDS.ravel().tolist(), "shape": list(WORDS.shape), "dtype": str(WORDS.dtype),
                  "outputs": y.astype("float64").ravel().tolist(), "type": str(y.dtype)})


BOTH = ("keras", "h5")
save("3_add", keras3, lambda n: n + 2.0)
save("3_mul", keras3, lambda n: n * 1e6, BOTH)
save("3_pow", keras3, lambda n: n ** -1.0, BOTH)
save("3_floordiv", keras3, lambda n: n // 2.0)
save("3_mod", keras3, lambda n: n % 3.0)
save("3_whole", keras3, lambda n: n * 3 + 1)
save("3_maximum", keras3, lambda n: keras3.ops.maximum(n, 4.0))
save("3_where", keras3, lambda n: keras3.ops.where(n > 3, n, 0.0))
save("3_repeat", keras3, lambda n: keras3.ops.repeat(n, [1, 3], axis=1))
save("3_clip", keras3, lambda n: keras3.ops.clip(n, -5, 16777217))
save("2_wholemod", keras2, lambda n: n % 1000, BOTH)
save("2_wholediv", keras2, lambda n: n // 1000)
with open(os.path.join(FOLDER, "numbers.json"), "w") as file:
    json.dump(CASES, file, indent=1)
    file.write("\n")
