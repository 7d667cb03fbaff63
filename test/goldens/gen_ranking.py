"""Writes ranking.json: losses and metrics of ranking. Run with TensorFlow 2.21, Keras 3.15 and Keras RS 0.4.0.

Not asked of Keras RS: RemoveAccidentalHits, which changes nothing in 0.4.0 (the formula of TensorFlow Recommenders 0.7.7
stands here), and the order of ties, which it draws in spite of shuffle_ties=False (scores have none here).
"""

import json
import pathlib

import keras
import keras_rs
import numpy as np
import tensorflow as tf

random = np.random.default_rng(29)
BATCH, ITEMS = 5, 7
scores = random.normal(size=(BATCH, ITEMS)).astype(np.float32)
labels = random.integers(0, 4, (BATCH, ITEMS)).astype(np.float32)
labels[1, 2:4] = -1
labels[3] = 0
mask = random.random((BATCH, ITEMS)) < 0.8
row_weights = random.random(BATCH).astype(np.float32)
item_weights = random.random((BATCH, ITEMS)).astype(np.float32)


def plain(value):
    return np.asarray(value, np.float64).tolist()


def reduced(loss, targets, weights=None):
    return float(loss(targets, scores, sample_weight=weights))


def keras_rs_losses():
    kinds = {
        "pairwiseLogistic": keras_rs.losses.PairwiseLogisticLoss,
        "pairwiseHinge": keras_rs.losses.PairwiseHingeLoss,
        "pairwiseSoftZeroOne": keras_rs.losses.PairwiseSoftZeroOneLoss,
        "pairwiseMeanSquared": keras_rs.losses.PairwiseMeanSquaredError,
        "listMLE": keras_rs.losses.ListMLELoss,
    }
    out = []
    for name, kind in kinds.items():
        for temperature in (1.0, 0.5):
            if name == "pairwiseMeanSquared" and temperature != 1:
                continue
            loss = kind(temperature=temperature)
            masked = {"labels": labels, "mask": mask}
            by_item = None if name == "listMLE" else reduced(loss, labels, item_weights)
            out.append(
                {
                    "name": name,
                    "temperature": temperature,
                    "plain": reduced(loss, labels),
                    "masked": reduced(loss, masked),
                    "rowWeights": reduced(loss, labels, row_weights if name == "listMLE" else row_weights[:, None]),
                    "itemWeights": by_item,
                }
            )
    return out


def gradients(f, x):
    with tf.GradientTape() as tape:
        x = tf.constant(x)
        tape.watch(x)
        losses = f(x)
    return {"losses": plain(losses), "gradient": plain(tape.gradient(losses, x))}


ids = random.integers(0, 6, (BATCH, 4)).astype(np.int32)
columns = random.normal(size=(BATCH, 4)).astype(np.float32)
square = random.normal(size=(BATCH, BATCH)).astype(np.float32)
shared = random.normal(size=(BATCH, 1 + BATCH * 3)).astype(np.float32)
mixed = random.normal(size=(BATCH, BATCH * 4)).astype(np.float32)
cosines = np.tanh(columns)
probabilities = (random.random(6) * 0.3 + 0.01).astype(np.float32)
MIN_FLOAT = np.finfo(np.float32).min / 100.0


def softmax_of(positives, candidates, one_hot, temperature, correct):
    """Of tensorflow_recommenders.tasks.Retrieval."""

    def loss(x):
        x = x / temperature
        if correct:
            x = x - tf.math.log(tf.clip_by_value(tf.gather(probabilities, candidates), 1e-6, 1.0))
        duplicate = tf.cast(tf.equal(positives[:, None], candidates), tf.float32) * (1 - one_hot)
        x = x + duplicate * MIN_FLOAT
        return tf.nn.softmax_cross_entropy_with_logits(one_hot, x)

    return loss


def first(x):
    return np.eye(x.shape[1], dtype=np.float32)[np.zeros(BATCH, int)]


def sampled_losses():
    own = ids[:, 1:]
    flat = np.broadcast_to(own.reshape(1, -1), (BATCH, BATCH * 3))
    all_rows = np.concatenate([np.broadcast_to(ids[:, 0], (BATCH, BATCH)), flat], 1)
    kept = (own != ids[:, :1]).astype(np.float32)

    def bpr(x):
        losses = tf.nn.softplus(x[:, 1:] - x[:, :1])
        return tf.math.divide_no_nan(tf.reduce_sum(losses * kept, -1), tf.reduce_sum(kept, -1))

    def contrastive(x):
        above = tf.nn.relu(x[:, 1:] - 0.2) * kept
        return 1 - x[:, 0] + 3 * tf.reduce_sum(above, -1) / tf.reduce_sum(kept, -1)

    out = [
        {"name": "bpr", "scores": plain(columns), "args": {}, **gradients(bpr, columns)},
        {
            "name": "cosineContrastive",
            "scores": plain(cosines),
            "args": {"margin": 0.2, "negativeWeight": 3},
            **gradients(contrastive, cosines),
        },
    ]
    for correct in (False, True):
        args = {"temperature": 0.5, **({"samplingProbabilities": plain(probabilities)} if correct else {})}
        for name, x, candidates, one_hot in (
            ("sampledSoftmax", columns, ids, first(columns)),
            ("sampledSoftmax", shared, np.concatenate([ids[:, :1], flat], 1), first(shared)),
            ("inBatchSoftmax", mixed, all_rows, np.eye(BATCH, BATCH * 4, dtype=np.float32)),
        ):
            f = softmax_of(ids[:, 0], candidates, one_hot, 0.5, correct)
            out.append({"name": name, "scores": plain(x), "args": args, **gradients(f, x)})
    f = softmax_of(ids[:, 0], np.broadcast_to(ids[:, 0], (BATCH, BATCH)), np.eye(BATCH, dtype=np.float32), 1.0, False)
    out.append({"name": "inBatchSoftmax", "scores": plain(square), "args": {}, "positivesAlone": True, **gradients(f, square)})
    return out


def list_losses():
    """Those that TensorFlow has: labels below 0 do not occur here."""
    given = np.maximum(labels, 0)
    ones = np.minimum(given, 1)
    softmax = gradients(lambda x: tf.reduce_sum(given, -1) * tf.nn.softmax_cross_entropy_with_logits(given / np.maximum(given.sum(-1, keepdims=True), 1), x), scores)
    sigmoid = gradients(lambda x: tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(ones, x), -1), scores)
    return [
        {"name": "listSoftmax", "labels": plain(given), **softmax},
        {"name": "sigmoidCrossEntropyFromLogits", "labels": plain(ones), **sigmoid},
    ]


def metrics():
    kinds = {
        "recallAtK": keras_rs.metrics.RecallAtK,
        "precisionAtK": keras_rs.metrics.PrecisionAtK,
        "ndcgAtK": keras_rs.metrics.NDCG,
        "dcgAtK": keras_rs.metrics.DCG,
        "mrr": keras_rs.metrics.MeanReciprocalRank,
        "map": keras_rs.metrics.MeanAveragePrecision,
    }
    out = []
    for name, kind in kinds.items():
        graded = name in ("ndcgAtK", "dcgAtK")
        given = labels if graded else np.minimum(labels, 1)
        for k in (None, 1, 3, 50):
            values = {}
            for what, targets, weights in (
                ("plain", given, None),
                ("masked", {"labels": given, "mask": mask}, None),
                ("rowWeights", given, row_weights),
            ):
                metric = kind(k=k)
                metric.update_state(targets, scores, sample_weight=weights)
                values[what] = float(metric.result())
            out.append({"name": name, "k": k, "isGraded": graded, **values})
    return out


result = {
    "kerasRs": keras_rs.__version__,
    "tensorflow": tf.__version__,
    "scores": plain(scores),
    "labels": plain(labels),
    "mask": mask.astype(int).tolist(),
    "rowWeights": plain(row_weights),
    "itemWeights": plain(item_weights),
    "ids": ids.tolist(),
    "kerasRsLosses": keras_rs_losses(),
    "sampledLosses": sampled_losses(),
    "listLosses": list_losses(),
    "metrics": metrics(),
}
pathlib.Path(__file__).with_name("ranking.json").write_text(json.dumps(result) + "\n")
