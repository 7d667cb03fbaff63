"""Prints, as JSON, how wheels are tagged that hold libraries with these texts."""

import importlib.util
import json
import sys
import types
from pathlib import Path

# The build backend is installed where wheels are built, not here.
for name, base in [("builders", "BuildHookInterface"), ("metadata", "MetadataHookInterface")]:
    plugin = types.ModuleType("interface")
    setattr(plugin, base, object)
    if name == "builders":
        sys.modules[f"hatchling.{name}.hooks.plugin.interface"] = plugin
    else:
        sys.modules[f"hatchling.{name}.plugin.interface"] = plugin
SOURCE = Path(__file__).parents[3] / "custom-ops" / "python" / "hatch_build.py"
spec = importlib.util.spec_from_file_location("hatch_build", SOURCE)
hook = importlib.util.module_from_spec(spec)
spec.loader.exec_module(hook)


def library(machine, *needed):
    """An ELF header and the names of versions."""
    return b"\x7fELF" + bytes(14) + machine.to_bytes(2, "little") + b"\0" + b"\0".join(needed) + b"\0"


def tag(data):
    """The tag, or the error."""
    try:
        return hook.platform_tag(data)
    except ValueError as error:
        return f"ValueError: {error}"


cases = {
    "old": library(62, b"GLIBC_2.2.5", b"GLIBC_2.28", b"GLIBCXX_3.4.9"),
    "glibc": library(62, b"GLIBC_2.29", b"GLIBC_2.3"),
    "stdlib": library(183, b"GLIBC_2.17", b"GLIBCXX_3.4.30"),
    "musl": library(62, b"libc.musl-x86_64.so.1"),
    "other": b"MZ" + bytes(64),
}
print(json.dumps({name: tag(data) for name, data in cases.items()}))
