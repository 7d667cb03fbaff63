"""Matrix factorization by pairs, as in own_functions.ts: prints the milliseconds of a step. Runs where torch is installed."""

import sys
import time

import torch

users, items, dim, batch, steps = (int(each) for each in sys.argv[1:6])
torch.set_num_threads(2)
tables = [torch.nn.Embedding(rows, dim, sparse=True) for rows in (users, items)]
for each in tables:
    torch.nn.init.normal_(each.weight, 0, 0.1)
optimizer = torch.optim.Adagrad([each.weight for each in tables], lr=float(sys.argv[6]))
batches = [[torch.randint(0, rows, (batch,)) for rows in (users, items, items)] for _ in range(8)]


def step(n):
    user, liked, other = batches[n % len(batches)]
    optimizer.zero_grad()
    apart = tables[1](liked) - tables[1](other)
    loss = torch.nn.functional.softplus(-(tables[0](user) * apart).sum(1)).mean()
    loss.backward()
    optimizer.step()


for n in range(20):
    step(n)
start = time.perf_counter()
for n in range(steps):
    step(n)
print(1000 * (time.perf_counter() - start) / steps)
