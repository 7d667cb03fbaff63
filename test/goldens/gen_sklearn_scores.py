"""Writes sklearn_scores.json: the area under the ROC curve and log loss. Run with scikit-learn 1.9."""

import json
import pathlib

import numpy as np
import sklearn
from sklearn import metrics

random = np.random.default_rng(31)
cases = []
for count, steps in ((40, 1000), (60, 5), (30, 2)):
    labels = random.integers(0, 2, count)
    # Few steps make many equal scores.
    scores = (random.integers(1, steps, count) / steps).astype(np.float32)
    weights = random.random(count).astype(np.float32)
    cases.append(
        {
            "labels": labels.tolist(),
            "scores": scores.tolist(),
            "weights": weights.tolist(),
            "auc": metrics.roc_auc_score(labels, scores),
            "weightedAuc": metrics.roc_auc_score(labels, scores, sample_weight=weights),
            "logLoss": metrics.log_loss(labels, scores.astype(np.float64), labels=[0, 1]),
            "weightedLogLoss": metrics.log_loss(
                labels, scores.astype(np.float64), sample_weight=weights, labels=[0, 1]
            ),
        }
    )
result = {"sklearn": sklearn.__version__, "cases": cases}
pathlib.Path(__file__).with_name("sklearn_scores.json").write_text(json.dumps(result) + "\n")
