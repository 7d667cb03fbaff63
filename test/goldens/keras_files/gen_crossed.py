"""
A model that crosses inputs of strings, as ids and as vectors, and what it computes.

    PYTHONPATH=<folders with tensorflow 2.21 and keras 3> python3 test/goldens/keras_files/gen_crossed.py
"""
import os

import keras
import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
a, b = keras.Input([1], dtype="string", name="city"), keras.Input([1], dtype="string", name="day")
ids = keras.layers.HashedCrossing(num_bins=11, name="pair")([a, b])
hot = keras.layers.HashedCrossing(num_bins=4, output_mode="one_hot", name="hot")([b, a])
rows = keras.layers.Flatten()(keras.layers.Embedding(11, 3)(ids))
model = keras.Model([a, b], keras.layers.Dense(1)(keras.layers.Concatenate()([rows, hot])))
model.save(os.path.join(HERE, "k3_crossed.keras"))
print(model.predict([tf.constant([["Ulm"], ["Bonn"], [""]]), tf.constant([["Mo"], ["Di"], ["Mo"]])], verbose=0).ravel())
