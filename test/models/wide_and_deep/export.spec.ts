// runner: python
/** The wide-and-deep example with `--export`: TensorFlow, in processes of its own, predicts what the job predicts. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PYTHON_TIMEOUT_MS, pythonWithTensorFlow } from '../../backends/tensorflow/python_tensorflow.js';
import { skipOrFail } from '../../helpers/backends.js';
import type { Outcome } from '../program.js';
import { learnableCsv, runMainWith, scratchFolder } from './program.js';

interface Report {
  readonly exportedEqual: { readonly tfjsNode: number | null; readonly python: number | null };
}

/** Probabilities. */
const TOLERANCE = 1e-6;

describe('npm start with --export', () => {
  const folder = scratchFolder();
  const data = folder.write('data.csv', learnableCsv(300));
  const runs: readonly (readonly [title: string, backend: readonly string[]])[] = [
    ['cpu', ['cpu']],
    ['eight devices', ['tpu-emulator', '--host', 'cpu', '--devices', '8', '--row-slice', '1']],
  ];
  const outcomes = new Map<string, Outcome>();
  let reason: string | null = null;

  beforeAll(async () => {
    const python = pythonWithTensorFlow();
    if (typeof python === 'string') reason = python;
    const variables = typeof python === 'string' ? {} : python.env;
    const jobs = runs.map(async ([title, backend]) => {
      const args = ['--data', data, '--epochs', '1', '--batch', '50', '--json', '--export', join(folder.path, title)];
      outcomes.set(title, await runMainWith(variables, ...args, '--backend', ...backend));
    });
    await Promise.all(jobs);
  }, PYTHON_TIMEOUT_MS);

  afterAll(() => folder.remove());

  for (const [title] of runs) {
    it(`shows that tfjs-node and Python agree: ${title}`, () => {
      const { code, stdout, stderr } = outcomes.get(title)!;
      expect(code).withContext(stderr).toBe(0);
      expect(existsSync(join(folder.path, title, 'saved_model.pb'))).toBeTrue();
      expect(stdout).toMatch(/^exported to .* in [\d.]+ s$/m);
      const { tfjsNode, python } = (JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as Report).exportedEqual;
      if (reason !== null) return skipOrFail(reason);
      if (tfjsNode === null) return skipOrFail('tfjs-node is not there');
      expect(tfjsNode).toBeLessThanOrEqual(TOLERANCE);
      expect(python).not.toBeNull();
      expect(python).toBeLessThanOrEqual(TOLERANCE);
    });
  }
});
