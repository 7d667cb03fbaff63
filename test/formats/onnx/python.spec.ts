// runner: python
/** Files of ONNX in Python: its checker takes them, and onnxruntime there gives what is predicted here. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { PYTHON_TIMEOUT_MS, pythonWithOnnx } from '../../backends/tensorflow/python_tensorflow.js';
import { casesOf } from '../../forms/forms.js';
import { skipOrFail } from '../../helpers/backends.js';
import type { DrawnRun } from '../saved_model/drawn/run.js';
import {
  largestDifference,
  namesOf,
  parsePython,
  plain,
  scramble,
  valuesByName,
  type OwnModel,
  type PlainTensor,
} from '../saved_model/exports.js';
import { OWN_MODELS } from '../saved_model/own_models.js';
import { temporaryFolder, TOLERANCE } from './model_suite.js';
import { componentInputs, eachDrawn } from './runtimes.js';

const SCRIPT = fileURLToPath(new URL('./run_files.py', import.meta.url));
const COUNT = casesOf('TFJS_EMBEDDINGS_ONNX_MODELS');
const SEED = Number(process.env['TFJS_EMBEDDINGS_TEST_SEED'] ?? 0) * 100_000;
const PACKED_TOLERANCE = 1e-4;

interface Result {
  readonly outputs?: Record<string, number[]>;
  readonly isSame?: boolean;
  readonly error?: string;
}

interface Expected {
  readonly title: string;
  readonly values: Record<string, number[]>;
  readonly tolerance: number;
}

describe('files of ONNX in Python', () => {
  const folder = temporaryFolder('python');
  const lines: string[] = [];
  const expected: Expected[] = [];

  function write(
    title: string,
    values: Expected['values'],
    inputs: Record<string, PlainTensor>,
    tolerance = TOLERANCE,
  ): string {
    const file = join(folder(), `${expected.length}.onnx`);
    lines.push(JSON.stringify({ file, inputs }));
    expected.push({ title, values, tolerance });
    return file;
  }

  async function addOwn(title: string, { model, inputs, fed, options = {} }: OwnModel): Promise<void> {
    scramble(model);
    const predicted = [model.predict(inputs)].flat();
    const names = namesOf(model.inputs);
    const named = fed ?? Object.fromEntries(inputs.map((input, i) => [names[i]!, plain(input)]));
    const file = write(title, valuesByName(namesOf(model.outputs), predicted), componentInputs(named));
    await emb.onnx.export(model, file, { ragged: options.ragged === undefined ? null : 'components' });
    tf.dispose([predicted, inputs]);
    model.dispose();
  }

  async function addDrawn(seed: number, run: DrawnRun): Promise<void> {
    const { model, named, options, predictions, isPacked } = run;
    const values = valuesByName(namesOf(model.outputs), [...predictions]);
    const tolerance = isPacked ? PACKED_TOLERANCE : TOLERANCE;
    const file = write(`seed ${seed}`, values, componentInputs(named), tolerance);
    await emb.onnx.export(model, file, {
      ragged: options.ragged === undefined ? null : 'components',
      opset: 18 + (seed % 4),
      externalData: seed % 3 === 0,
    });
  }

  async function addKeys(keys: readonly unknown[], args: Partial<emb.OpenTableArgs>): Promise<void> {
    const table = emb.openTable({ outputDim: 3, capacity: 9, seed: 3, ...args });
    table.upsert(keys.slice(0, 3) as never, tf.randomNormal([3, 3], 0, 1, 'float32', 5));
    const input = emb.input({ shape: [2], dtype: table.keyKind, name: 'keys' });
    const output = emb.layers.embedding({ table, combiner: 'mean', name: 'pooled' } as never).apply(input);
    const model = tf.model({ inputs: input, outputs: output as tf.SymbolicTensor });
    const result = model.predict([keys.slice(0, 2), keys.slice(2)] as never) as tf.Tensor;
    const dtype = table.keyKind === 'string' ? 'string' : 'int64';
    const given = { keys: { dtype, shape: [2, 2], values: keys.map(String) as unknown as number[] } };
    const file = write(`keys of ${dtype}`, { pooled: Array.from(result.dataSync()) }, given);
    await emb.onnx.export(model, file);
    result.dispose();
    model.dispose();
  }

  it(
    'are clean, and give the same on one thread and on two, however often',
    async () => {
      const python = pythonWithOnnx();
      if (typeof python === 'string') return skipOrFail(python);
      for (const [title, make] of OWN_MODELS) {
        if (/signature|custom ops|^Hashing/i.test(title)) continue;
        tf.engine().startScope();
        await addOwn(title, make());
        tf.engine().endScope();
      }
      await eachDrawn(SEED, COUNT, async (seed, run) => {
        // Digits that are hashed as texts are told by drawn.spec.ts.
        await addDrawn(seed, run).catch(() => [lines, expected].forEach((list) => list.pop()));
      });
      await addKeys(['tea', '日本', '', 'x'], { keys: 'string', keepTexts: true });
      await addKeys([2n ** 63n - 1n, -(2n ** 63n), 0n, 5n], { unknown: { shared: 4, hashes: 2 } });
      const list = join(folder(), 'cases.json');
      writeFileSync(list, lines.join('\n'));
      const results = parsePython(python.run(SCRIPT, list).trim().split('\n').at(-1)!) as Result[];
      const problems = expected.flatMap(({ title, values, tolerance }, i) => {
        const { outputs, isSame, error } = results[i]!;
        if (error !== undefined) return [`${title}: ${error}`];
        const off = Object.entries(values).map(([name, each]) => largestDifference(outputs![name] ?? [], each));
        const most = Math.max(...off);
        return [...(most <= tolerance ? [] : [`${title}: ${most} off`]), ...(isSame ? [] : [`${title}: runs differ`])];
      });
      expect(problems).toEqual([]);
      expect(expected.length).toBeGreaterThan(60 + COUNT / 2);
    },
    PYTHON_TIMEOUT_MS,
  );
});
