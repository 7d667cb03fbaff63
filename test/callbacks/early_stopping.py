"""Which epoch ends training, and which weights come back, by Keras's EarlyStopping: early_stopping.py <cases.json>"""

import json
import math
import sys

import keras


class Model:
    stop_training = False
    weights = None

    def get_weights(self):
        return self.weights

    def set_weights(self, weights):
        self.weights = weights


def run(case):
    options = {
        "monitor": "val_loss",
        "min_delta": case["minDelta"],
        "patience": case["patience"],
        "mode": case["mode"],
        "baseline": case["baseline"],
        "start_from_epoch": case["startFromEpoch"],
        "restore_best_weights": case["restoreBestWeights"],
    }
    model = Model()
    callback = keras.callbacks.EarlyStopping(**options)
    callback.set_model(model)
    callback.on_train_begin()
    ended = len(case["values"])
    for epoch, value in enumerate(case["values"]):
        model.weights = epoch + 1
        logs = {} if value is None else {"val_loss": math.nan if value == "NaN" else value}
        callback.on_epoch_end(epoch, logs)
        if model.stop_training:
            ended = epoch + 1
            break
    callback.on_train_end()
    return [ended, model.weights]


with open(sys.argv[1]) as file:
    cases = json.load(file)
print(json.dumps([run(case) for case in cases]))
