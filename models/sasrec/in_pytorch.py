"""The same recipe in PyTorch, with the same options: what it reaches and how long it takes. Needs torch and numpy.

    python models/sasrec/in_pytorch.py --data F --epochs N [--length N] [--dim N] [--blocks N] …

It reads ratings (NCF). Nothing is chosen: the last epoch counts. The last line is JSON.
"""

import argparse
import json
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--epochs", type=int, required=True)
for name, default in dict(length=30, dim=32, blocks=2, heads=1, sampled=256, batch=64, seed=42, threads=2).items():
    parser.add_argument(f"--{name}", type=int, default=default)
parser.add_argument("--dropout", type=float, default=0.1)
parser.add_argument("--rate", type=float, default=0.006)
options = parser.parse_args()
torch.set_num_threads(options.threads)
torch.manual_seed(options.seed)
random = np.random.default_rng(options.seed)
dim, length = options.dim, options.length

users, items, _, times = np.loadtxt(options.data, dtype=np.int64, delimiter="\t").T
order = np.lexsort((times, users))
sequences = np.split(items[order], np.flatnonzero(np.diff(users[order])) + 1)
num_items = items.max() + 1


def padded(rows):
    """The last items of each row, the very last one in the last column, with num_items before the first."""
    ids = np.full((len(rows), length), num_items)
    for row, own in zip(ids, rows):
        own = own[-length:]
        row[length - len(own) :] = own
    return torch.from_numpy(ids)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(dim, eps=1e-3) for _ in range(2)])
        self.attention = nn.MultiheadAttention(dim, options.heads, batch_first=True)
        self.dense = nn.ModuleList([nn.Linear(dim, dim) for _ in range(2)])
        self.dropout = nn.Dropout(options.dropout)

    def forward(self, x, unseen):
        query = self.norms[0](x)
        x = x + self.dropout(self.attention(query, query, query, attn_mask=unseen, need_weights=False)[0])
        hidden = self.dropout(F.relu(self.dense[0](self.norms[1](x))))
        return x + self.dropout(self.dense[1](hidden))


class SasRec(nn.Module):
    def __init__(self):
        super().__init__()
        self.items = nn.Embedding(num_items + 1, dim, padding_idx=num_items)
        self.places = nn.Embedding(length, dim)
        nn.init.normal_(self.items.weight, std=0.1)
        nn.init.normal_(self.places.weight, std=0.3)
        with torch.no_grad():
            self.items.weight[num_items] = 0
        self.blocks = nn.ModuleList([Block() for _ in range(options.blocks)])
        self.norm = nn.LayerNorm(dim, eps=1e-3)
        self.dropout = nn.Dropout(options.dropout)
        for each in self.modules():
            if isinstance(each, nn.Linear):
                nn.init.xavier_normal_(each.weight)
                nn.init.zeros_(each.bias)

    def forward(self, ids):
        x = self.dropout(self.items(ids) + self.places.weight)
        later = torch.ones(length, length, dtype=torch.bool).triu(1)
        # A place sees at least itself: with nothing to see the weights would be no numbers.
        unseen = (later | (ids == num_items)[:, None]) & ~torch.eye(length, dtype=torch.bool)
        for block in self.blocks:
            x = block(x, unseen.repeat_interleave(options.heads, 0))
        return self.norm(x)


model = SasRec()
optimizer = torch.optim.Adam(model.parameters(), lr=options.rate, eps=1e-7)
train = [row if len(row) < 3 else row[:-2] for row in sequences]
train = [row for row in train if len(row) > 1]


def step(rows):
    following = padded([row[1:] for row in rows]).flatten()
    negatives = torch.from_numpy(random.integers(0, num_items, options.sampled))
    counted = following < num_items
    found = model(padded([row[:-1] for row in rows])).reshape(-1, dim)[counted]
    wanted = following[counted]
    scores = found @ model.items(negatives).T
    scores = scores.masked_fill(negatives[None] == wanted[:, None], -1e30)
    positive = (found * model.items(wanted)).sum(1, keepdim=True)
    loss = F.cross_entropy(torch.cat([positive, scores], 1), torch.zeros(len(found), dtype=torch.int64))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


wall, cpu = time.perf_counter(), time.process_time()
for _ in range(options.epochs):
    shuffled = random.permutation(len(train))
    for start in range(0, len(train), options.batch):
        step([train[at] for at in shuffled[start : start + options.batch]])
result = {
    "secondsPerEpoch": (time.perf_counter() - wall) / options.epochs,
    "cpuSecondsPerEpoch": (time.process_time() - cpu) / options.epochs,
}

model.eval()
ranks = []
judged = [row for row in sequences if len(row) >= 3]
with torch.no_grad():
    for start in range(0, len(judged), 256):
        rows = judged[start : start + 256]
        scores = model(padded([row[:-1] for row in rows]))[:, -1] @ model.items.weight[:-1].T
        for row, each in zip(rows, scores):
            held = each[row[-1]].item()
            each[row[:-1]] = -torch.inf
            ranks.append(int((each > held).sum()))
ranks = np.array(ranks)
result |= {"hitRate@10": float((ranks < 10).mean()), "ndcg@10": float(((ranks < 10) / np.log2(ranks + 2)).mean())}
print(json.dumps(result))
