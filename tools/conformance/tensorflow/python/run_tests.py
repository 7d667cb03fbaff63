"""Runs test files of TensorFlow against the package under test; tells what became of each case in lines of JSON.

python3 run_tests.py OPTIONS, OPTIONS being JSON: `tree`, the source tree; `files`, test files in it; `command` and
`cwd`, which start the package; `results`, the file that gets the lines; `texts`, of which the name of a case holds one;
`behaviour`, `v1` or `v2`, that of TensorFlow 1 or 2.
"""
import faulthandler
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import re
import socket
import sys
import tempfile
import time
import types
import unittest

import package as package_lib

_MARK = package_lib.MARK


class _TreeFinder(importlib.abc.MetaPathFinder):
  """Modules of tests, which TensorFlow's wheel lacks, from the source tree."""

  def __init__(self, tree):
    self._tree = tree

  def find_spec(self, name, path=None, target=None):
    if not name.startswith('tensorflow.'):
      return None
    base = os.path.join(self._tree, *name.split('.'))
    if os.path.isfile(base + '.py'):
      return importlib.util.spec_from_file_location(name, base + '.py')
    if os.path.isdir(base):
      init = os.path.join(base, '__init__.py')
      if os.path.isfile(init):
        return importlib.util.spec_from_file_location(name, init, submodule_search_locations=[base])
      spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
      spec.submodule_search_locations = [base]
      return spec
    return None


def _port_picker():
  """A module that TensorFlow's tests of clusters ask for free ports."""

  def pick_unused_port():
    with socket.socket() as free:
      free.bind(('localhost', 0))
      return free.getsockname()[1]

  module = types.ModuleType('portpicker')
  module.pick_unused_port = pick_unused_port
  return module


def _allow_own_words():
  """Errors of the package must be of the class that a test wants; their words are the package's own."""
  leave = unittest.case._AssertRaisesContext.__exit__

  def own_words(self, kind, error, trace):
    if error is not None and _MARK in str(error):
      self.expected_regex = None
    return leave(self, kind, error, trace)

  unittest.case._AssertRaisesContext.__exit__ = own_words

  from tensorflow.python.framework import errors
  from tensorflow.python.framework import test_util
  import contextlib

  with_predicate = test_util.TensorFlowTestCase.assertRaisesWithPredicateMatch

  @contextlib.contextmanager
  def predicate_match(self, kind, predicate):
    try:
      with with_predicate(self, kind, predicate):
        try:
          yield
        except Exception as error:
          if _MARK in str(error) and isinstance(error, kind):
            raise _Met() from error
          raise
    except _Met:
      pass

  test_util.TensorFlowTestCase.assertRaisesWithPredicateMatch = predicate_match


class _Met(BaseException):
  """An error of the package of the class that was asked for."""


class _Result(unittest.TestResult):
  """Writes a line for each case that ends."""

  def __init__(self, out, file, package, embeddings):
    super().__init__()
    self._out = out
    self._file = file
    self._package = package
    self._embeddings = embeddings
    self._said = None

  def startTest(self, test):
    super().startTest(test)
    self._embeddings.begin(test.id())
    self._calls = self._package.calls
    self._package.refusals.clear()
    self._package.carried.clear()
    self._said = None
    self._began = time.time()

  def stopTest(self, test):
    super().stopTest(test)
    status, message = self._said or ('passed', '')
    refusals = sorted(set(self._package.refusals))
    if status != 'skipped':
      if refusals:
        status, message = 'refused', '; '.join(refusals)
      elif status == 'failed' and self._package.carried:
        status, message = 'refused', f'needs {", ".join(sorted(self._package.carried))}, which tfjs lacks'
      elif self._package.calls == self._calls and status == 'passed':
        status, message = 'reaches nothing', ''
    # Functions among the arguments are told with their addresses, which differ from run to run.
    self.tell(re.sub(r' at 0x[0-9a-f]+>', '>', test.id().removeprefix('__main__.')), status, message)

  def tell(self, name, status, message):
    seconds = round(time.time() - getattr(self, '_began', time.time()), 3)
    line = {'name': name, 'file': self._file, 'status': status, 'message': message, 'seconds': seconds}
    self._out.write(json.dumps(line) + '\n')
    self._out.flush()

  def _failed(self, test, err):
    self._said = ('failed', self._exc_info_to_string(err, test))

  def addFailure(self, test, err):
    super().addFailure(test, err)
    self._failed(test, err)

  def addError(self, test, err):
    super().addError(test, err)
    if not isinstance(test, unittest.TestCase):
      self.tell(str(test), 'failed', self._exc_info_to_string(err, test))
      return
    self._failed(test, err)

  def addSubTest(self, test, subtest, err):
    super().addSubTest(test, subtest, err)
    if err is not None:
      self._failed(test, err)

  def addSkip(self, test, reason):
    super().addSkip(test, reason)
    self._said = ('skipped', reason)


def _cases(suite):
  for each in suite:
    if isinstance(each, unittest.TestSuite):
      yield from _cases(each)
    else:
      yield each


def _load(tree, file):
  """The module of a test file: one of the tree, or one by an absolute path."""
  from absl import flags

  name = '__sample__' if os.path.isabs(file) else os.path.splitext(file)[0].replace('/', '.')
  spec = importlib.util.spec_from_file_location(name, os.path.join(tree, file))
  module = importlib.util.module_from_spec(spec)
  sys.modules[spec.name] = module
  spec.loader.exec_module(module)
  # Files of one process may define the same flag.
  for flag in flags.FLAGS:
    flags.FLAGS[flag].allow_override = True
  return module


def _chosen(module, texts):
  """The cases of a module whose names hold one of the texts; none: all."""
  from absl import flags

  flags.FLAGS(sys.argv, known_only=True)
  suite = unittest.defaultTestLoader.loadTestsFromModule(module)
  return unittest.TestSuite(
      case for case in _cases(suite)
      if (not texts or any(text in case.id() for text in texts)) and not case.id().endswith('.test_session'))


def main():
  faulthandler.enable()
  options = json.loads(sys.argv[1])
  sys.argv = sys.argv[:1]
  tree = options['tree']
  os.environ.setdefault('TEST_TMPDIR', tempfile.mkdtemp())
  # Before the tree is there: TensorFlow takes a module of it for the sign that XLA shall compile what tests run.
  import tensorflow as tf  # pylint: disable=unused-import,g-import-not-at-top

  sys.meta_path.append(_TreeFinder(tree))
  sys.modules.setdefault('portpicker', _port_picker())

  # As the files do when they are run by themselves; those that say nothing are written for both.
  from tensorflow.python.compat import v2_compat
  if options.get('behaviour') == 'v1':
    v2_compat.disable_v2_behavior()
  else:
    v2_compat.enable_v2_behavior()
  _allow_own_words()
  package = package_lib.Package(options['command'], options['cwd'])
  with open(options['results'], 'a') as out:
    import kernels
    replaced = kernels.Kernels(package)
    ops, _ = package.call('ops', {})
    for op in ops:
      replaced.register(op)
    import tpu_embedding
    embeddings = tpu_embedding.install(package)
    import sparse_core_ops
    sparse_core_ops.SparseCoreOps(replaced, embeddings, package)
    for file in options['files']:
      # Whoever reads the lines knows by this one in which file a process ended early.
      out.write(json.dumps({'name': file, 'status': 'file', 'message': ''}) + '\n')
      out.flush()
      result = _Result(out, file, package, embeddings)
      try:
        module = _load(tree, file)
      except Exception as error:  # pylint: disable=broad-except
        result.tell(file, 'failed', f'cannot be imported: {error!r}')
        continue
      sparse_core_ops.expect_with_arrays(module)
      _chosen(module, options.get('texts', [])).run(result)
    package.close()
    out.write(json.dumps({'name': 'end', 'status': 'end', 'message': ''}) + '\n')


if __name__ == '__main__':
  main()
