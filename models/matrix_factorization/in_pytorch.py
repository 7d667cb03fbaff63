"""The same recipe in PyTorch, with the same options: what it reaches and how long it takes. Needs torch and numpy.

    python models/matrix_factorization/in_pytorch.py --train F --test F [--valid F] [--negatives F] [--loss NAME] …

It reads lists (LightGCN) and ratings (NCF). Tables are stepped by the rows of the batch, as here: torch.optim has no
row-wise Adagrad. The last line is JSON.
"""

import argparse
import json
import time

import numpy as np
import torch
from torch.nn import functional as F

parser = argparse.ArgumentParser()
for name in "train", "valid", "test", "negatives":
    parser.add_argument(f"--{name}")
parser.add_argument("--loss", default="softmax", choices=["softmax", "ccl", "bpr"])
parser.add_argument("--dim", type=int, default=64)
parser.add_argument("--epochs", type=int, required=True)
parser.add_argument("--rate", type=float)
parser.add_argument("--batch", type=int)
parser.add_argument("--width", type=int, default=32)
parser.add_argument("--sampled", type=int)
parser.add_argument("--temperature", type=float, default=0.1)
parser.add_argument("--margin", type=float, default=0.7)
parser.add_argument("--weight", type=float, default=300)
parser.add_argument("--balance", type=float, default=0.5)
parser.add_argument("--decay", type=float, default=0.05)
parser.add_argument("--seed", type=int, default=42)
parser.add_argument("--threads", type=int, default=2)
options = parser.parse_args()
is_pairs = options.loss == "bpr"
rate = options.rate or (0.05 if is_pairs else 0.2)
batch = options.batch or (8192 if is_pairs else 256)
sampled = options.sampled or (1 if is_pairs else 4096)
width = 1 if is_pairs else options.width
torch.set_num_threads(options.threads)
torch.manual_seed(options.seed)
random = np.random.default_rng(options.seed)


def pairs_of(path):
    users, items = [], []
    with open(path) as lines:
        for line in lines:
            cells = line.split()
            if not cells:
                continue
            own = [cells[1]] if "\t" in line else cells[1:]
            users += [int(cells[0])] * len(own)
            items += map(int, own)
    return np.array(users), np.array(items)


parts = {name: pairs_of(path) for name in ("train", "valid", "test") if (path := getattr(options, name))}
num_users, num_items = (1 + max(part[of].max() for part in parts.values()) for of in (0, 1))
users, items = (np.concatenate([parts[name][of] for name in parts if name != "test"]) for of in (0, 1))


def rows_of(users, items):
    order = np.argsort(users, kind="stable")
    return np.split(items[order], np.searchsorted(users[order], np.arange(1, num_users)))


tables = [torch.randn(rows, options.dim) * 0.1 for rows in (num_users, num_items)]
squares = [torch.full((rows,), 1e-12) for rows in (num_users, num_items)]


def step(table, squares, ids, rows, rate):
    with torch.no_grad():
        squares[ids] += rows.grad.square().mean(1)
        kept = rows * (1 - options.decay * rate)
        table[ids] = kept - rate * rows.grad / (squares[ids] + 1e-12).sqrt()[:, None]


def looked_up(table, ids):
    """The rows of a batch, each once, and where the ids have them."""
    once, places = torch.unique(ids, return_inverse=True)
    return once, table[once].requires_grad_(), places


def train_on(user, item, weights, negatives, rate):
    count = item.numel()
    own, user_rows, user_places = looked_up(tables[0], user)
    all_items, item_rows, item_places = looked_up(tables[1], torch.cat([item.flatten(), negatives.flatten()]))
    if is_pairs:
        u = user_rows[user_places]
        positive = (u * item_rows[item_places[:count]]).sum(1, keepdim=True)
        others = item_rows[item_places[count:]].reshape(len(u), -1, options.dim)
        negative = torch.bmm(others, u[:, :, None])[:, :, 0]
        loss = F.softplus(negative - positive).mean()
    else:
        u, vectors = F.normalize(user_rows)[user_places], F.normalize(item_rows)
        positive = torch.bmm(vectors[item_places[:count]].reshape(*item.shape, -1), u[:, :, None])[:, :, 0]
        negative = u @ vectors[item_places[count:]].T
        if options.loss == "ccl":
            excess = F.relu(negative - options.margin).mean(1, keepdim=True)
            losses = 1 - positive + options.weight * excess
        else:
            others = torch.logsumexp(negative / options.temperature, 1, keepdim=True)
            losses = F.softplus(others - positive / options.temperature)
        loss = (losses * weights).sum() / weights.sum()
    loss.backward()
    step(tables[0], squares[0], own, user_rows, rate)
    step(tables[1], squares[1], all_items, item_rows, rate)
    return loss.item()


def epoch(number):
    """Items of a user come to as few rows as hold them."""
    order = random.permutation(len(users))
    order = order[np.argsort(users[order], kind="stable")]
    counts = np.bincount(users, minlength=num_users)
    rows = -(-counts // width)
    first = np.cumsum(rows) - rows
    place = np.arange(len(users)) - np.repeat(np.cumsum(counts) - counts, counts)
    row, column = first[users[order]] + place % rows[users[order]], place // rows[users[order]]
    item, weights = np.zeros((rows.sum(), width), np.int64), np.zeros((rows.sum(), width), np.float32)
    item[row, column], weights[row, column] = items[order], counts[users[order]].astype(float) ** -options.balance
    user = np.repeat(np.arange(num_users), rows)
    shuffled = random.permutation(len(user))
    for start in range(0, len(user), batch):
        at = shuffled[start : start + batch]
        negatives = random.integers(0, num_items, (len(at), sampled) if is_pairs else sampled)
        batch_of = (torch.from_numpy(each) for each in (user[at], item[at], weights[at], negatives))
        done = (number + start / len(user)) / options.epochs
        train_on(*batch_of, rate * (1 - done))


wall, cpu = time.perf_counter(), time.process_time()
for number in range(options.epochs):
    epoch(number)
result = {
    "secondsPerEpoch": (time.perf_counter() - wall) / options.epochs,
    "cpuSecondsPerEpoch": (time.process_time() - cpu) / options.epochs,
}

vectors = tables if is_pairs else [F.normalize(table) for table in tables]
had, wanted = rows_of(users, items), rows_of(*parts["test"])
gains = 1 / np.log2(np.arange(20) + 2)
if options.negatives:
    hits, ndcg = [], []
    with open(options.negatives) as lines:
        for line in lines:
            cells = line.split()
            user, held = map(int, cells[0].strip("()").split(","))
            scores = (vectors[1][[held, *map(int, cells[1:])]] @ vectors[0][user]).numpy()
            rank = int((scores[1:] > scores[0]).sum())
            hits.append(rank < 10)
            ndcg.append(gains[rank] if rank < 10 else 0)
    result |= {"hitRate@10": float(np.mean(hits)), "ndcg@10": float(np.mean(ndcg))}
else:
    recall, ndcg = [], []
    judged = [user for user in range(num_users) if len(wanted[user]) > 0]
    for start in range(0, len(judged), 500):
        block = judged[start : start + 500]
        scores = vectors[0][block] @ vectors[1].T
        for row, user in enumerate(block):
            scores[row, had[user]] = -torch.inf
        for user, top in zip(block, scores.topk(20).indices.numpy()):
            found = np.isin(top, wanted[user])
            recall.append(found.sum() / len(wanted[user]))
            ndcg.append((found * gains).sum() / gains[: len(wanted[user])].sum())
    result |= {"recall@20": float(np.mean(recall)), "ndcg@20": float(np.mean(ndcg))}
print(json.dumps(result))
