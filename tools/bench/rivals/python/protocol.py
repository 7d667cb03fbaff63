"""Requests of the bench: one JSON object a line on standard input, one line of answer each on standard output."""

import json
import os
import statistics
import sys
import time
import traceback


class Lacks(Exception):
    """The rival has no such thing; the text says what."""


def timed(step, steps):
    taken = []
    for _ in range(steps):
        start = time.perf_counter()
        step()
        taken.append(1000 * (time.perf_counter() - start))
    return {"ms": statistics.median(taken)}


def serve(make):
    """Answers until standard input ends. make() imports the rival: what it cannot import is told as missing."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints does not belong between the answers

    def say(answer):
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    try:
        peer = make()
    except (ImportError, OSError) as error:
        say({"missing": f"{type(error).__name__}: {error}"})
        return
    say({"version": peer.version})
    for line in sys.stdin:
        request = json.loads(line)
        try:
            say(getattr(peer, request.pop("do"))(**request) or {})
        except Lacks as lack:
            say({"lacks": str(lack)})
        except Exception as error:  # told to the bench, which goes on with other rivals
            traceback.print_exc()
            say({"error": f"{type(error).__name__}: {error}"})
