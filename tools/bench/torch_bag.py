"""torch.nn.EmbeddingBag in the cases of kernels.ts: one JSON line per case. Runs where torch is installed."""

import argparse
import json
import statistics
import time

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--rows", type=int, default=1_000_000)
parser.add_argument("--batch", type=int, default=4096)
parser.add_argument("--dims", default="32,64,128")
parser.add_argument("--hots", default="1,10,50")
parser.add_argument("--threads", default="1,2")
parser.add_argument("--repeats", type=int, default=15)
args = parser.parse_args()


def numbers(text):
    return [int(part) for part in text.split(",")]


def measure(run):
    for n in range(5):
        run(n)
    taken = []
    for n in range(args.repeats):
        start = time.perf_counter()
        run(n)
        taken.append(1000 * (time.perf_counter() - start))
    return {"msMedian": round(statistics.median(taken), 4), "msMin": round(min(taken), 4)}


for dim in numbers(args.dims):
    for hot in numbers(args.hots):
        batches = [torch.randint(0, args.rows, (args.batch, hot)) for _ in range(64 if hot == 1 else 16)]
        for threads in numbers(args.threads):
            torch.set_num_threads(threads)
            bag = torch.nn.EmbeddingBag(args.rows, dim, mode="sum", sparse=True)
            optimizer = torch.optim.SGD(bag.parameters(), lr=1e-3)

            def forward(n):
                with torch.no_grad():
                    bag(batches[n % len(batches)])

            def step(n):
                optimizer.zero_grad()
                bag(batches[n % len(batches)]).sum().backward()
                optimizer.step()

            for op, run in {"forward": forward, "sgd": step}.items():
                case = {"peer": f"torch {torch.__version__}", "case": f"{op} d{dim} h{hot}", "threads": threads}
                print(json.dumps({**case, **measure(run)}), flush=True)
