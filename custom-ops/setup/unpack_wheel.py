"""Takes some files out of TensorFlow's wheel, which holds 15,000, one of them 790 MB.

    python unpack_wheel.py WHEEL FOLDER WANTED

WANTED is JSON: {"libraries": [[name, ...], ...], "headers": [name, ...]}. Of each list of libraries the first that is
there goes to FOLDER/lib, and must have the SHA-256 that the wheel records. Headers go to FOLDER/include, with all that
they include. Prints a line for each library; what is wrong is one line on standard error.
"""

import base64
import csv
import hashlib
import json
import os
import re
import sys
import zipfile
import zlib

CHUNK = 1 << 22
INCLUDE = re.compile(rb'#\s*include\s+"([^"]+)"')


class Unusable(Exception):
    """The wheel is not what it should be."""


def recorded_hashes(wheel):
    """SHA-256 in base64url of each file, as the wheel's RECORD lists them."""
    for name in wheel.namelist():
        if name.endswith(".dist-info/RECORD"):
            rows = csv.reader(wheel.read(name).decode().splitlines())
            return {row[0]: row[1][len("sha256=") :] for row in rows if len(row) > 1 and row[1].startswith("sha256=")}
    raise Unusable("the wheel has no RECORD")


def unpack_library(wheel, names, hashes, folder):
    entries = set(wheel.namelist())
    name = next((each for each in names if "tensorflow/" + each in entries), None)
    if name is None:
        raise Unusable("the wheel holds none of " + ", ".join(names))
    entry = "tensorflow/" + name
    print("unpacking %s (%.0f MB)" % (name, wheel.getinfo(entry).file_size / 1e6), flush=True)
    digest = hashlib.sha256()
    with wheel.open(entry) as source, open(os.path.join(folder, name), "wb") as target:
        for part in iter(lambda: source.read(CHUNK), b""):
            digest.update(part)
            target.write(part)
    if base64.urlsafe_b64encode(digest.digest()).decode().rstrip("=") != hashes.get(entry):
        raise Unusable(name + ": its SHA-256 is not the one that the wheel records")


def unpack_headers(wheel, wanted, folder):
    entries = set(wheel.namelist())
    found = set()
    todo = list(wanted)
    while todo:
        name = todo.pop()
        entry = "tensorflow/include/" + name
        if name in found or entry not in entries or ".." in name.split("/"):
            continue
        found.add(name)
        content = wheel.read(entry)
        path = os.path.join(folder, *name.split("/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as target:
            target.write(content)
        todo.extend(each.decode() for each in INCLUDE.findall(content))
    for name in wanted:
        if name not in found:
            raise Unusable("the wheel has no header " + name)


def main(path, folder, wanted):
    wanted = json.loads(wanted)
    with zipfile.ZipFile(path) as wheel:
        hashes = recorded_hashes(wheel)
        os.makedirs(os.path.join(folder, "lib"))
        for names in wanted["libraries"]:
            unpack_library(wheel, names, hashes, os.path.join(folder, "lib"))
        unpack_headers(wheel, wanted["headers"], os.path.join(folder, "include"))


try:
    main(*sys.argv[1:])
except (Unusable, EOFError, OSError, NotImplementedError, zipfile.BadZipFile, zlib.error) as problem:
    sys.exit("error: %s" % problem)
