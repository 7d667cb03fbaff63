/** Models that go out as files of ONNX and predict the same in onnxruntime. */
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { useCpu } from '../../layers/setup.js';
import { largestDifference, namesOf, plain, scramble, valuesByName, type OwnModel } from '../saved_model/exports.js';
import type { StockModel } from '../saved_model/stock_model.js';
import { componentInputs, nodeRuntime, runOnce, wasmRuntime } from './runtimes.js';

type Made = OwnModel & Pick<StockModel, 'right'>;

/** |a - b| / (1 + |b|). */
export const TOLERANCE = 1e-5;

/** A folder that is removed at the end; specs run on `cpu`, unless they choose. */
export function temporaryFolder(name: string, usesCpu = true): () => string {
  let folder = '';
  beforeAll(async () => {
    if (usesCpu) await useCpu();
    folder = mkdtempSync(join(tmpdir(), `onnx-${name}-`));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return () => folder;
}

/** The largest |a - b| / (1 + |b|) of all outputs, in Node and as WebAssembly. */
async function differences({ model, inputs, fed, options = {}, right }: Made, file: string): Promise<number[]> {
  const predicted = [right?.(model, inputs) ?? model.predict(inputs)].flat();
  const expected = valuesByName(namesOf(model.outputs), predicted);
  tf.dispose(predicted);
  const before = tf.memory().numTensors;
  await emb.onnx.export(model, file, { ragged: options.ragged === undefined ? null : 'components' });
  expect(tf.memory().numTensors).toBe(before);
  const names = namesOf(model.inputs);
  const named = fed ?? Object.fromEntries(inputs.map((input, i) => [names[i]!, plain(input)]));
  const bytes = await readFile(file);
  const found: number[] = [];
  for (const runtime of [await nodeRuntime(), await wasmRuntime()]) {
    const session = await runtime.InferenceSession.create(bytes, { logSeverityLevel: 3 });
    const outputs = await runOnce(runtime, session, componentInputs(named));
    await session.release();
    expect(Object.keys(outputs).sort()).toEqual(Object.keys(expected).sort());
    found.push(...Object.entries(expected).map(([name, values]) => largestDifference(outputs[name] ?? [], values)));
  }
  return found;
}

/** A spec for each model; `isRefused`: those that ONNX has no ops for. */
export function describeModels(
  models: readonly (readonly [string, () => Made])[],
  folder: () => string,
  isRefused: (title: string) => boolean = () => false,
): void {
  for (const [i, [title, make]] of models.entries()) {
    it(`${isRefused(title) ? 'refuses' : 'predicts what it predicts here'}: ${title}`, async () => {
      tf.engine().startScope();
      const made = make();
      scramble(made.model);
      const run = differences(made, join(folder(), `${i}.onnx`));
      if (isRefused(title)) {
        await expectAsync(run).toBeRejectedWithError(/layers that ONNX ops can express.*(layer \w+).*ONNX lacks/);
      } else {
        for (const difference of await run) expect(difference).toBeLessThanOrEqual(TOLERANCE);
      }
      const weights = made.model.weights.map((weight) => weight.read() as tf.Tensor);
      made.model.dispose();
      tf.dispose([weights, made.inputs]);
      tf.engine().endScope();
    });
  }
}
