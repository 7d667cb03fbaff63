"""The package under test, in a process of Node: calls go out and answers come back in frames.

A frame is the length of a header, the header as JSON, and the buffers whose lengths it lists.
"""
import json
import struct
import subprocess
import threading

MARK = '[tfjs-embeddings]'


class PackageError(Exception):
  """An error that the package threw: its class there, the argument at fault and its text."""

  def __init__(self, kind, argument, message):
    super().__init__(f'{MARK} {kind}: {message}')
    self.kind = kind
    self.argument = argument


class Refused(Exception):
  """A call that has no counterpart in JavaScript, with the reason."""


class Package:
  """One process of Node; calls of several threads come one after the other."""

  def __init__(self, command, cwd):
    self._process = subprocess.Popen(command, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    self._lock = threading.Lock()
    self.calls = 0
    # What the case that runs asked for in vain, and the dtypes it used that tfjs has in another width alone.
    self.refusals = []
    self.carried = set()

  def call(self, method, arguments, buffers=()):
    """Returns the result and the buffers of a call; PackageError where the package throws."""
    header = json.dumps({'method': method, 'arguments': arguments, 'buffers': [len(each) for each in buffers]})
    encoded = header.encode()
    with self._lock:
      self.calls += 1
      out = self._process.stdin
      out.write(struct.pack('<I', len(encoded)) + encoded + b''.join(bytes(each) for each in buffers))
      out.flush()
      answer = json.loads(self._read(struct.unpack('<I', self._read(4))[0]))
      found = [self._read(length) for length in answer['buffers']]
    error = answer.get('error')
    if error is not None:
      raise PackageError(error['name'], error.get('argument'), error['message'])
    return answer.get('result'), found

  def refuse(self, reason):
    """Notes that a case asks for what is not there; returns the error to raise."""
    self.refusals.append(reason)
    return Refused(f'{MARK} refused: {reason}')

  def close(self):
    self._process.stdin.close()
    self._process.wait(timeout=30)

  def _read(self, length):
    parts = []
    while length > 0:
      part = self._process.stdout.read(length)
      if not part:
        raise RuntimeError(f'{MARK} the process of the package ended with {self._process.wait()}')
      parts.append(part)
      length -= len(part)
    return b''.join(parts)
