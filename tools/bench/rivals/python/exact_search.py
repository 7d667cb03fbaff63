"""Exact search beside ours: faiss IndexFlatIP, and the bare product in numpy. Answers a line for each line.

  python exact_search.py QUERIES ROWS DIM K     float32 files; then `faiss`, `numpy` or `ids FILE` on standard input
"""

import sys
import time

import numpy as np

BLOCK = 256  # queries of a product, as many as ours has


def main():
    queries_file, rows_file, dim, k = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    queries = np.fromfile(queries_file, np.float32).reshape(-1, dim)
    rows = np.fromfile(rows_file, np.float32).reshape(-1, dim)
    try:
        import faiss

        faiss.omp_set_num_threads(2)
        index = faiss.IndexFlatIP(dim)
        index.add(rows)
    except ImportError:
        index = None
    out = np.empty((BLOCK, len(rows)), np.float32)
    found = None
    for line in sys.stdin:
        command, *rest = line.split()
        start = time.perf_counter()
        if command == "faiss" and index is not None:
            found = index.search(queries, k)
        elif command == "numpy":
            for first in range(0, len(queries), BLOCK):
                block = queries[first : first + BLOCK]
                np.dot(block, rows.T, out=out[: len(block)])
        elif command == "ids" and found is not None:
            np.concatenate([found[0].astype(np.float64), found[1].astype(np.float64)], 1).tofile(rest[0])
        else:
            print("none", flush=True)
            continue
        print(time.perf_counter() - start, flush=True)


main()
