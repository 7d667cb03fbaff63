"""
What Keras 3 has, by kind: names of classes and functions, and for operations the class that files have.

    PYTHONPATH=<a folder with keras 3> python3 test/goldens/gen_keras_names.py
"""
import inspect
import json
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
from keras.src.ops.operation import Operation

HERE = os.path.dirname(os.path.abspath(__file__))


def classes(module, base):
    """Those whose name is their own, not a second one of another class."""
    return sorted(name for name, value in vars(module).items() if inspect.isclass(value) and issubclass(value, base) and value is not base and value.__name__ == name)


def functions(module):
    return sorted(name for name, value in vars(module).items() if inspect.isfunction(value) and name not in ("get", "serialize", "deserialize"))


operations = {}
for name in ("core", "image", "linalg", "math", "nn", "numpy"):
    module = __import__(f"keras.src.ops.{name}", fromlist=["*"])
    operations[name] = sorted(
        key for key, value in vars(module).items() if inspect.isclass(value) and issubclass(value, Operation) and value.__module__ == module.__name__
    )

names = {
    "keras": keras.__version__,
    "layers": classes(keras.layers, keras.layers.Layer),
    "activations": functions(keras.activations),
    "initializers": classes(keras.initializers, keras.initializers.Initializer),
    "regularizers": classes(keras.regularizers, keras.regularizers.Regularizer),
    "constraints": classes(keras.constraints, keras.constraints.Constraint),
    "losses": classes(keras.losses, keras.losses.Loss),
    "metrics": classes(keras.metrics, keras.metrics.Metric),
    "optimizers": classes(keras.optimizers, keras.optimizers.Optimizer),
    "operations": operations,
}
with open(os.path.join(HERE, "keras_names.json"), "w") as file:
    json.dump(names, file, indent=1)
    file.write("\n")
print({key: len(value) for key, value in names.items()})
