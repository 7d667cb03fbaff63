"""Models of TensorFlow.js in files, as the wheel reads and writes them. Prints which tests ran and which failed.

Usage: python3 file_cases.py
"""

import json
import tempfile
import unittest
from pathlib import Path

import keras
import numpy as np
from tfjs_embeddings_ops import EmbeddingBag, load_weights, save_weights, train

WEIGHTS = {"items/embeddings": (4, 2), "scores/kernel": (2, 1), "scores/bias": (1,)}
STATE = {
    "iter": (),
    "items/embeddings/momenta": (4, 2),
    "items/embeddings/velocities": (4, 2),
    "dense/scores/kernel/m": (2, 1),
    "dense/scores/bias/m": (1,),
    "dense/scores/kernel/v": (2, 1),
    "dense/scores/bias/v": (1,),
    "dense/accBeta1": (),
    "dense/accBeta2": (),
}


def model_of(optimizer="adam"):
    """A model with these weights."""
    model = keras.Sequential(
        [keras.Input((2,), dtype="int32"), EmbeddingBag(4, 2, name="items"), keras.layers.Dense(1, name="scores")]
    )
    if optimizer is not None:
        model.compile(optimizer=getattr(train, optimizer)(learning_rate=0.5), loss="mse")
    return model


class Files(unittest.TestCase):
    """Each test has a folder with a model, which it may change."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        self.values = {}
        self.specs = []
        for shapes, group in ((WEIGHTS, {}), (STATE, {"group": "optimizer"})):
            for name, shape in shapes.items():
                dtype = "int32" if name == "iter" else "float32"
                size = int(np.prod(shape))
                self.values[name] = (np.arange(size) + 10 * len(self.values) + 1).reshape(shape).astype(dtype)
                self.specs.append({"name": name, "shape": list(shape), "dtype": dtype, **group})
        self.write()

    def write(self, cut=0, **changes):
        """Writes the model; `cut`: bytes that are missing at the end."""
        data = b"".join(self.values[spec["name"]].tobytes() for spec in self.specs)
        first = 16  # weights may go over the end of a file
        (self.folder / "a.bin").write_bytes(data[:first])
        (self.folder / "b.bin").write_bytes(data[first : len(data) - cut])
        training = {
            "loss": "mean_squared_error",
            "metrics": [],
            "optimizer_config": {"class_name": "SGD", "config": {}},
        }
        description = {
            "format": "layers-model",
            "modelTopology": {"class_name": "Sequential"},
            "trainingConfig": training,
            "weightsManifest": [{"paths": ["a.bin", "b.bin"], "weights": self.specs}],
            **changes,
        }
        (self.folder / "model.json").write_text(json.dumps(description))

    def state(self, model):
        """Everything that a model and its optimizer hold, by its name in files."""
        with tempfile.TemporaryDirectory() as folder:
            save_weights(model, folder, source=self.folder)
            description = json.loads((Path(folder) / "model.json").read_text())
            [group] = description["weightsManifest"]
            data, at, found = (Path(folder) / group["paths"][0]).read_bytes(), 0, {}
            for spec in group["weights"]:
                size = int(np.prod(spec["shape"])) * 4
                found[spec["name"]] = np.frombuffer(data[at : at + size], spec["dtype"]).reshape(spec["shape"])
                at += size
            return description, found

    def assert_refused(self, kind, text, call):
        """What is refused leaves the model as it was."""
        with self.assertRaisesRegex(kind, text):
            call()

    def test_brings_weights_and_state_and_writes_them_back(self):
        model = model_of()
        names = load_weights(model, self.folder / "model.json")
        self.assertEqual(names, list(self.values))
        self.assertEqual(int(model.optimizer.iterations), self.values["iter"])
        description, found = self.state(model)
        self.assertEqual(sorted(found), sorted(self.values))
        for name, value in self.values.items():
            np.testing.assert_array_equal(found[name], value, name)
        config = description["trainingConfig"]["optimizer_config"]
        self.assertEqual(config["class_name"], "TfjsEmbeddings>Adam")
        self.assertEqual(config["config"]["learningRate"], 0.5)
        self.assertIs(config["config"]["biasCorrection"], True)
        self.assertEqual([each["name"] for each in config["config"]["state"]], list(found)[len(WEIGHTS) :])
        self.assertEqual(description["trainingConfig"]["loss"], "mean_squared_error")

    def test_takes_names_that_differ(self):
        for spec in self.specs:
            renamed = spec["name"].replace("scores/kernel", "dense_Dense1/kernel")
            self.values[renamed] = self.values.pop(spec["name"])
            spec["name"] = renamed
        self.write()
        model = model_of()
        self.assert_refused(ValueError, "source: expected the weights items", lambda: load_weights(model, self.folder))
        names = {"dense_Dense1/kernel": "scores/kernel"}
        load_weights(model, self.folder, names=names)
        np.testing.assert_array_equal(model.get_weights()[1], self.values["dense_Dense1/kernel"])
        save_weights(model, self.folder, source=self.folder, names=names)
        again = model_of()
        load_weights(again, self.folder, names=names)
        for a, b in zip(again.optimizer.variables, model.optimizer.variables):
            np.testing.assert_array_equal(a, b)

    def test_takes_variables_that_were_numbered(self):
        for spec in self.specs:
            if spec["name"].startswith("dense/scores"):
                numbered = spec["name"].replace("kernel", "kernel_3")
                self.values[numbered] = self.values.pop(spec["name"])
                spec["name"] = numbered
        self.write()
        model = model_of()
        load_weights(model, self.folder)
        np.testing.assert_array_equal(
            self.state(model)[1]["dense/scores/kernel/v"], self.values["dense/scores/kernel_3/v"]
        )

    def test_begins_afresh_what_was_never_trained(self):
        self.specs = [spec for spec in self.specs if "scores" not in spec["name"] or "/" not in spec["name"][7:]]
        self.specs = [spec for spec in self.specs if not spec["name"].startswith("dense/")]
        self.write()
        model = model_of()
        model.fit(np.array([[1, 2]], np.int32), np.ones((1, 1)), verbose=0)
        load_weights(model, self.folder)
        found = self.state(model)[1]
        np.testing.assert_array_equal(found["items/embeddings/momenta"], self.values["items/embeddings/momenta"])
        np.testing.assert_array_equal(found["dense/scores/kernel/v"], np.zeros((2, 1)))
        np.testing.assert_array_equal(found["dense/accBeta1"], np.float32(0.9))

    def test_needs_no_optimizer(self):
        model = model_of(None)
        self.assertEqual(load_weights(model, self.folder), list(WEIGHTS))
        description, found = self.state(model)
        self.assertEqual(list(found), list(WEIGHTS))
        self.assertNotIn("trainingConfig", description)

    def test_refuses_what_does_not_fit(self):
        model = model_of()
        before = model.get_weights()
        load = lambda: load_weights(model, self.folder)
        self.assert_refused(TypeError, "source: expected the folder", lambda: load_weights(model, 3))
        self.assert_refused(ValueError, "source: expected the folder", lambda: load_weights(model, self.folder / "no"))
        self.assert_refused(TypeError, "model: expected a model of Keras", lambda: load_weights(3, self.folder))
        self.assert_refused(TypeError, "names: expected a dict", lambda: load_weights(model, self.folder, names=[1]))
        wrong = {"a": "items/kernel"}
        self.assert_refused(ValueError, "names: .*items/kernel", lambda: load_weights(model, self.folder, names=wrong))
        stock = model_of(None)
        stock.compile(optimizer="adam", loss="mse")
        self.assert_refused(TypeError, "model.optimizer: expected an opt", lambda: load_weights(stock, self.folder))
        other = model_of("ftrl")
        self.assert_refused(ValueError, "optimizer state: .*momenta", lambda: load_weights(other, self.folder))
        self.write(cut=4)
        self.assert_refused(ValueError, "source: expected files as long as", load)
        whole = list(self.specs)
        self.specs = [spec for spec in whole if not spec["name"].endswith("velocities")]
        self.write()
        self.assert_refused(ValueError, "optimizer state: expected items/embeddings/velocities, as it was saved", load)
        self.specs = [spec for spec in whole if not spec["name"].startswith("dense/acc")]
        self.write()
        self.assert_refused(
            ValueError, "optimizer state: expected dense/accBeta1, dense/accBeta2, as it was saved", load
        )
        self.specs = whole
        self.specs[0]["shape"] = [2, 4]
        self.write()
        self.assert_refused(ValueError, r"items/embeddings: expected shape \(4, 2\), received shape \(2, 4\)", load)
        self.specs[0].update(shape=[4, 2], quantization={"dtype": "uint8", "scale": 1, "min": 0})
        self.write()
        self.assert_refused(ValueError, "items/embeddings: expected float32 or int32 values, received quantized", load)
        self.specs[0].pop("quantization")
        self.write(weightsManifest=[{"paths": ["../a.bin"], "weights": self.specs}])
        self.assert_refused(
            ValueError, "source: expected weights in the folder of model.json, received '../a.bin'", load
        )
        self.write(weightsManifest=[{"paths": ["c.bin"], "weights": self.specs}])
        self.assert_refused(ValueError, "source: expected the folder or model.json.*FileNotFoundError", load)
        self.write(weightsManifest=[{"weights": self.specs}])
        self.assert_refused(ValueError, "source: expected the folder or model.json.*KeyError", load)
        (self.folder / "model.json").write_text("{}")
        self.assert_refused(ValueError, "source: expected the folder or model.json", load)
        (self.folder / "saved_model.pb").write_bytes(b"")
        self.assert_refused(ValueError, "source: expected the folder or model.json", load)
        assets = self.folder / "assets.extra" / "tfjs_embeddings.json"
        assets.parent.mkdir()
        assets.write_text(json.dumps({"format": "tfjs-embeddings", "version": 2}))
        self.assert_refused(ValueError, "source: expected tfjs-embeddings of version 1, received .*version 2", load)
        assets.write_text(json.dumps({"format": "tfjs-embeddings", "version": 1, "weights": [], "optimizer": []}))
        self.assert_refused(ValueError, "source: expected the folder or model.json.*variables", load)
        for a, b in zip(before, model.get_weights()):
            np.testing.assert_array_equal(a, b)

    def test_refuses_to_write_what_cannot_travel(self):
        model = model_of()
        load_weights(model, self.folder)
        target = self.folder / "new"
        self.write(trainingConfig=None)
        save = lambda: save_weights(model, target, source=self.folder)
        self.assert_refused(ValueError, "source: expected a model that was saved with includeOptimizer", save)
        self.write()
        self.assert_refused(TypeError, "target: expected a folder", lambda: save_weights(model, 3, source=self.folder))
        model.compile(optimizer=train.adam(learning_rate=lambda: 0.1), loss="mse")
        self.assert_refused(ValueError, "learning_rate: expected a number or a schedule", save)
        model.compile(optimizer=train.adam(dense=keras.optimizers.SGD()), loss="mse")
        self.assert_refused(ValueError, "model.optimizer: expected one without a `dense`", save)
        self.assertFalse(target.exists())


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=0).result
    failed = [f"{test}: {text}" for test, text in result.failures + result.errors]
    print(json.dumps({"ran": result.testsRun, "failed": failed}))
