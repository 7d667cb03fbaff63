"""Writes models with classes of users that have the names of Keras's own: python user_classes_keras.py FOLDER

For Keras 3 and 2, registered and not. The last line printed is JSON: [{file, name: the class, registered}].
"""
import json
import os
import sys

import keras as keras3
import tf_keras as keras2

FOLDER = sys.argv[1]
SHAPES = {"LSTM": (4, 2)}
LAYERS = {
    "Dense": {"units": 2}, "Activation": {"activation": "relu"}, "Dropout": {"rate": 0.5}, "ReLU": {}, "Softmax": {},
    "Embedding": {"input_dim": 3, "output_dim": 2}, "LayerNormalization": {}, "LSTM": {"units": 2}, "Flatten": {},
    "UnitNormalization": {}, "Rescaling": {"scale": 2.0}, "CategoryEncoding": {"num_tokens": 3},
}
# By the field of a Dense.
OBJECTS = {
    "kernel_initializer": ("initializers", "Ones"), "bias_initializer": ("initializers", "Zeros"),
    "kernel_regularizer": ("regularizers", "L2"), "kernel_constraint": ("constraints", "NonNeg"),
}
written = []


def write(keras, model, name, registered, version):
    for extension in ("keras", "h5") if registered else ("keras",):
        file = os.path.join(FOLDER, f"{version} {name} {registered}.{extension}")
        model.save(file)
        written.append({"file": file, "name": name, "registered": registered})


def subclass(keras, base, registered):
    name = base.__name__
    cls = type(name, (base,), {"__module__": "__main__"})
    return keras.saving.register_keras_serializable(package="my")(cls) if registered else cls


for version, keras in ((3, keras3), (2, keras2)):
    for registered in (True, False):
        for name, settings in LAYERS.items():
            cls = subclass(keras, getattr(keras.layers, name), registered)
            x = keras.Input(SHAPES.get(name, (2,)), dtype="int32" if name in ("Embedding", "Hashing") else "float32")
            write(keras, keras.Model(x, cls(**settings)(x)), name, registered, version)
        for field, (module, name) in OBJECTS.items():
            cls = subclass(keras, getattr(getattr(keras, module), name), registered)
            x = keras.Input((2,))
            y = keras.layers.Dense(2, **{field: cls()})(x)
            write(keras, keras.Model(x, y), name, registered, version)
        cls = subclass(keras, keras.layers.Dense, registered)
        x = keras.Input((3, 2))
        write(keras, keras.Model(x, keras.layers.TimeDistributed(cls(2))(x)), "TimeDistributed Dense", registered, version)
        cls = subclass(keras, keras.Sequential, registered)
        model = cls([keras.Input((2,)), keras.layers.Dense(2)])
        if version == 3:
            model.save(os.path.join(FOLDER, f"3 Sequential {registered}.keras"))
            written.append({"file": os.path.join(FOLDER, f"3 Sequential {registered}.keras"), "name": "Sequential",
                            "registered": registered})
        x = keras.Input((2,))
        write(keras, keras.Model(x, model(x)), "within Sequential", registered, version)

        if registered:  # another one is written as Keras's own of its name
            relu = keras.saving.register_keras_serializable(package="my", name="relu")(lambda x: 3 * x)
            x = keras.Input((2,))
            write(keras, keras.Model(x, keras.layers.Dense(2, activation=relu)(x)), "relu", registered, version)
print(json.dumps(written))
