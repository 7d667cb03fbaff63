/** TensorFlow's own tests of TPU embeddings, tensor arrays and ragged tensors, from a source tree, asked of this package. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pythonWithTensorFlow } from '../backends/tensorflow/python_tensorflow.js';
import { deliberateDifferences } from './both_ways.js';
import type { Source } from './source.js';
import { reportOf, type ReasonByCase } from './tensorflow/report.js';
import { runTestFiles, type CaseLine, type TestFiles } from './tensorflow/test_run.js';

/** What no JavaScript has, and what asks for Python's own forms: files and cases by a text of their names. */
interface NotRun {
  readonly files: readonly { readonly file: string; readonly reason: string }[];
  readonly cases: readonly ReasonByCase[];
}
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
    const notRun = JSON.parse(readFileSync(NOT_RUN, 'utf8')) as NotRun;
    const reasonOf = (file: string): string | undefined => notRun.files.find((each) => each.file === file)?.reason;
    const suites = SUITES.map((suite) => ({ ...suite, all: filesOf(tree, suite) }));
    const lines: CaseLine[] = [];
    // One process for all files of a behaviour: importing TensorFlow takes longer than most files.
    for (const behaviour of ['v1', 'v2'] as const) {
      const files = suites
        .filter(({ behaviours }) => behaviours.includes(behaviour))
        .flatMap(({ all }) => all.filter((file) => reasonOf(file) === undefined));
      const found = await runTestFiles(python, { tree, files, behaviour, texts });
      const failed = found.filter(({ status }) => status === 'failed').length;
      say(`TensorFlow ${behaviour}: ${found.length} cases in ${files.length} files, ${failed} fail`);
      lines.push(...found);
    }
    return suites.map(({ name, all }) => {
      const own = lines.filter(({ file }) => all.includes(file));
      const report = reportOf(name, own, deliberateDifferences(), notRun.cases);
      const left = all.flatMap((file) => {
        const reason = reasonOf(file);
        return reason === undefined ? [] : [{ what: file, reason }];
      });
      return { ...report, notRun: [...left, ...report.notRun] };
    });
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
