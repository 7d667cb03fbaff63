/** TensorFlow's own tests of TPU embeddings, tensor arrays and ragged tensors, from a source tree, asked of this package. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pythonWithTensorFlow } from '../../test/backends/tensorflow/python_tensorflow.js';
import { deliberateDifferences } from './both_ways.js';
import type { Source } from './source.js';
import { reportOf, unknownInList, type NotRun, type NotRunCases, type NotRunFile } from './tensorflow/report.js';
import { runTestFiles, type CaseLine, type TestFiles } from './tensorflow/test_run.js';

/** What no JavaScript has, and what asks for Python's own forms. */
const NOT_RUN = new URL('tensorflow/not_run.json', import.meta.url);

/** Folders and the names of test files in them; those that ask for TensorFlow 1 are run as such, too. */
interface Suite {
  readonly name: string;
  readonly folder: string;
  readonly files: RegExp;
  readonly behaviours: readonly TestFiles['behaviour'][];
}
const SUITES: readonly Suite[] = [
  {
    name: 'TensorFlow: TPU embeddings',
    folder: 'tensorflow/python/tpu/tests',
    files: /^tpu_embedding_v\d.*_test\.py$/,
    behaviours: ['v2'],
  },
  {
    name: 'TensorFlow: TPU embeddings, configs and lookups',
    folder: 'tensorflow/python/tpu',
    files: /^tpu_embedding_.*_test\.py$/,
    behaviours: ['v2'],
  },
  {
    name: 'TensorFlow: tensor arrays',
    folder: 'tensorflow/python/kernel_tests/data_structures',
    files: /^tensor_array_ops_test\.py$/,
    behaviours: ['v1', 'v2'],
  },
  {
    name: 'TensorFlow: ragged tensors',
    folder: 'tensorflow/python/ops/ragged',
    files: /_test\.py$/,
    behaviours: ['v2'],
  },
];

export const tensorflowTree: Source = {
  name: 'tensorflow',
  describe: 'tests of TensorFlow 2.21 for TPU embeddings, tensor arrays and ragged tensors, from its source tree',
  folder: 'tensorflow',
  async run({ texts, folders }, say) {
    const tree = folders['tensorflow']!;
    const python = pythonWithTensorFlow();
    if (typeof python === 'string') throw new Error(python);
    const listed = JSON.parse(readFileSync(NOT_RUN, 'utf8')) as NotRun[];
    const leftOut = listed.filter((each): each is NotRunFile => 'file' in each);
    const listedCases = listed.filter((each): each is NotRunCases => !('file' in each));
    const suites = SUITES.map((suite) => ({ ...suite, all: filesOf(tree, suite) }));
    const lines: CaseLine[] = [];
    // One process for all files of a behaviour: importing TensorFlow takes longer than most files.
    for (const behaviour of ['v1', 'v2'] as const) {
      const files = suites
        .filter(({ behaviours }) => behaviours.includes(behaviour))
        .flatMap(({ all }) => all.filter((file) => !leftOut.some((each) => each.file === file)));
      const found = await runTestFiles(python, { tree, files, behaviour, texts, say });
      const failed = found.filter(({ status }) => status === 'failed').length;
      say(`TensorFlow ${behaviour}: ${found.length} cases in ${files.length} files, ${failed} fail`);
      lines.push(...found);
    }
    const reports = suites.map(({ name, all }) => {
      const own = lines.filter(({ file }) => all.includes(file));
      const report = reportOf(name, own, deliberateDifferences(), listedCases);
      const left = leftOut.filter(({ file }) => all.includes(file)).map(({ file, reason }) => ({ what: file, reason }));
      return { ...report, notRun: [...left, ...report.notRun] };
    });
    // Where some cases alone are asked for, others of the list are not there.
    const failures =
      texts.length > 0
        ? []
        : unknownInList(
            listed,
            lines,
            suites.flatMap(({ all }) => all),
          );
    const none = { cases: failures.length, passed: 0, deliberate: {}, notRun: [] };
    return [...reports, { suite: 'TensorFlow: not_run.json', ...none, failures }];
  },
};

/** The test files of a suite, from the root of the tree. */
function filesOf(tree: string, { folder, files }: Suite): string[] {
  if (!existsSync(join(tree, folder))) {
    throw new Error(`--tensorflow: expected a source tree of TensorFlow 2.21, and there is no ${join(tree, folder)}`);
  }
  const found = readdirSync(join(tree, folder)).filter((file) => files.test(file));
  return found.sort().map((file) => `${folder}/${file}`);
}
