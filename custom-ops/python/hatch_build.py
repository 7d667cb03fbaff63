"""Puts the op library into the wheel, and says for which machines that is."""

import json
import os
import re
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

HERE = Path(__file__).parent
MACHINES = {62: "x86_64", 183: "aarch64"}
# What manylinux_2_28 promises of each library whose symbols have versions.
MANYLINUX_2_28 = {b"GLIBC": (2, 28), b"GLIBCXX": (3, 4, 24), b"CXXABI": (1, 3, 11), b"GCC": (8,)}


def library_path() -> Path:
    """The library that the wheel is to hold: TFJS_EMBEDDINGS_LIBRARY, or what set-up built."""
    named = os.environ.get("TFJS_EMBEDDINGS_LIBRARY")
    path = Path(named) if named else HERE.parent / "build" / "tfjs_embeddings.node"
    if not path.is_file():
        raise ValueError(f"TFJS_EMBEDDINGS_LIBRARY: expected an op library, received no file {path}")
    return path


def versions_needed(library: bytes) -> dict[bytes, tuple[int, ...]]:
    """The highest version that a library asks for, by the name before the number.

    Every need is a text of the library, so that none is missed; a text that is no need can only raise a version.
    """
    highest: dict[bytes, tuple[int, ...]] = {}
    for name, number in re.findall(rb"\0(GLIBC|GLIBCXX|CXXABI|GCC)_(\d+(?:\.\d+)*)(?=\0)", library):
        version = tuple(int(part) for part in number.split(b"."))
        highest[name] = max(highest.get(name, ()), version)
    return highest


def platform_tag(library: bytes) -> str:
    """The platform tag of a wheel with this library, an ELF file of glibc."""
    machine = MACHINES.get(int.from_bytes(library[18:20], "little"))
    if library[:4] != b"\x7fELF" or machine is None:
        raise ValueError(
            "TFJS_EMBEDDINGS_LIBRARY: expected an ELF library for x86_64 or aarch64, received another file"
        )
    needed = versions_needed(library)
    if b"GLIBC" not in needed:
        raise ValueError("TFJS_EMBEDDINGS_LIBRARY: expected a library of glibc, received one of another C library")
    fits = all(version <= MANYLINUX_2_28[name] for name, version in needed.items())
    return f"{'manylinux_2_28' if fits else 'linux'}_{machine}"


class LibraryHook(BuildHookInterface):
    """Adds the library to the package and tags the wheel by it."""

    def initialize(self, version: str, build_data: dict) -> None:
        path = library_path()
        build_data["force_include"][str(path)] = "tfjs_embeddings_ops/tfjs_embeddings.so"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_tag(path.read_bytes())}"


class VersionHook(MetadataHookInterface):
    """The version is that of the npm package."""

    def update(self, metadata: dict) -> None:
        package = json.loads((HERE.parent.parent / "package.json").read_text())
        metadata["version"] = package["version"]
