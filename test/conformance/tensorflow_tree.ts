/** TensorFlow's own tests of TPU embeddings, tensor arrays and ragged tensors, from a source tree, asked of this package. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pythonWithTensorFlow } from '../backends/tensorflow/python_tensorflow.js';
import { deliberateDifferences } from './both_ways.js';
import type { Source, SuiteReport } from './source.js';
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
    const reports: SuiteReport[] = [];
    for (const { name, folder, files, behaviours } of SUITES) {
      if (!existsSync(join(tree, folder))) {
        throw new Error(
          `--tensorflow: expected a source tree of TensorFlow 2.21, and there is no ${join(tree, folder)}`,
        );
      }
      const all = readdirSync(join(tree, folder)).filter((file) => files.test(file));
      const reasonOf = (file: string): string | undefined =>
        notRun.files.find((each) => each.file === `${folder}/${file}`)?.reason;
      const left = all.flatMap((file) => {
        const reason = reasonOf(file);
        return reason === undefined ? [] : [{ what: file, reason }];
      });
      const chosen = all.filter((file) => reasonOf(file) === undefined).map((file) => `${folder}/${file}`);
      const lines: CaseLine[] = [];
      for (const behaviour of behaviours) {
        const found = await runTestFiles(python, { tree, files: chosen.sort(), behaviour, texts });
        const failed = found.filter(({ status }) => status === 'failed').length;
        say(`${name} (${behaviour}): ${found.length} cases, ${failed} fail`);
        lines.push(...found);
      }
      const report = reportOf(name, lines, deliberateDifferences(), notRun.cases);
      reports.push({ ...report, notRun: [...left, ...report.notRun] });
    }
    return reports;
  },
};
