"""Approximate search beside ours: inverted files of faiss, and usearch. Answers a line of JSON for each line.

  python neighbours.py QUERIES ROWS DIM K LISTS     float32 files; then lines of standard input:
  build NAME       seconds of processor time, or null where the package is not there
  search NAME N    a search with N probes (usearch: expansion), ids to a file that the answer names
NAME: flat (IVF,Flat), sq8 (IVF,SQ8, refined by the rows), usearch.
"""

import json
import os
import sys
import time

import numpy as np


def faiss_index(name, rows, lists):
    import faiss

    faiss.omp_set_num_threads(1)
    dim = rows.shape[1]
    text = f"IVF{lists},Flat" if name == "flat" else f"IVF{lists},SQ8,RFlat"
    index = faiss.index_factory(dim, text, faiss.METRIC_INNER_PRODUCT)
    index.train(rows[: 64 * lists])
    index.add(rows)
    return index


def usearch_index(rows):
    from usearch.index import Index

    index = Index(ndim=rows.shape[1], metric="ip", dtype="f32")
    index.add(np.arange(len(rows)), rows, threads=1)
    return index


def main():
    queries_file, rows_file, dim, k, lists = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
    queries = np.fromfile(queries_file, np.float32).reshape(-1, dim)
    rows = np.fromfile(rows_file, np.float32).reshape(-1, dim)
    made = {}
    for line in sys.stdin:
        command, name, *rest = line.split()
        start = time.process_time()
        try:
            if command == "build":
                made[name] = usearch_index(rows) if name == "usearch" else faiss_index(name, rows, lists)
                answer = {"seconds": time.process_time() - start}
            elif name == "usearch":
                made[name].expansion_search = int(rest[0])
                ids = made[name].search(queries, k, threads=1).keys
                answer = {"seconds": time.process_time() - start}
            else:
                index = made[name]
                if name == "sq8":
                    import faiss

                    index.k_factor = 2
                    faiss.downcast_index(index.base_index).nprobe = int(rest[0])
                else:
                    index.nprobe = int(rest[0])
                ids = index.search(queries, k)[1]
                answer = {"seconds": time.process_time() - start}
            if command == "search":
                answer["ids"] = os.path.join(os.path.dirname(queries_file), "ids")
                np.ascontiguousarray(ids, np.int32).tofile(answer["ids"])
        except (ImportError, KeyError):
            answer = None
        print(json.dumps(answer), flush=True)


main()
