// runner: python
/** Exports in the tools of TensorFlow and TensorFlow.js: saved_model_cli, tfjs-node, the converter and loadGraphModel. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { PYTHON_TIMEOUT_MS, pythonWithConverter, type Python } from '../../backends/tensorflow/python_tensorflow.js';
import { censusModel } from '../../../tools/bench/census_model.js';
import { skipOrFail } from '../../helpers/backends.js';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';
import { largestDifference, namesOf, plain, scramble } from './exports.js';

/** |a - b| / (1 + |b|). */
const TOLERANCE = 1e-6;
const DEVICES = 8;

interface Exported {
  readonly directory: string;
  readonly inputs: Record<string, ReturnType<typeof plain>>;
  readonly predictions: readonly number[];
  readonly output: string;
}

interface ToolResult {
  readonly show: string;
  readonly outputs: Record<string, number[]>;
}

/** Tables cut by rows, cut by columns, and on every device. */
function distributedModel(): tf.LayersModel {
  const tables = emb.layers.distributedEmbedding({
    embeddings: [
      { name: 'rows', inputDim: 4000, outputDim: 8, combiner: 'sum' },
      { name: 'columns', inputDim: 100, outputDim: 16, combiner: 'mean' },
      { name: 'everywhere', inputDim: 10, outputDim: 4, combiner: 'sum' },
    ],
    strategy: 'memory_balanced',
    rowSliceThreshold: 20_000,
    columnSliceThreshold: 200,
    dataParallelThreshold: 50,
  });
  const inputs = ['a', 'b', 'c'].map((name) => tf.input({ shape: [2], dtype: 'int32', name }));
  const looked = tables.apply(inputs as never) as unknown as tf.SymbolicTensor[];
  const joined = tf.layers.concatenate().apply(looked) as tf.SymbolicTensor;
  const outputs = tf.layers.dense({ units: 1, activation: 'sigmoid' }).apply(joined) as tf.SymbolicTensor;
  return tf.model({ inputs, outputs });
}

describe('a SavedModel in tools', () => {
  const exported = new Map<string, Exported>();
  const results = new Map<string, ToolResult>();
  let folder: string;
  let python: Python | string;
  let plan: emb.PlanData;

  async function exportOne(title: string, model: tf.LayersModel): Promise<void> {
    const ids = model.inputs.map(({ shape }, i) => {
      return tf.randomUniform([5, shape[1]!], 0, 4, 'int32', 3 + i);
    });
    const predicted = model.predict(ids) as tf.Tensor;
    const directory = join(folder, title);
    await emb.savedModel.export(model, directory);
    const names = namesOf(model.inputs);
    exported.set(title, {
      directory,
      inputs: Object.fromEntries(ids.map((each, i) => [names[i]!, plain(each)])),
      predictions: Array.from(predicted.dataSync()),
      output: namesOf(model.outputs)[0]!,
    });
    tf.dispose([ids, predicted]);
  }

  beforeAll(async () => {
    for (const each of [exported, results]) each.clear();
    folder = mkdtempSync(join(tmpdir(), 'tools-'));
    await tf.setBackend('cpu');
    const model = censusModel(8, 1);
    scramble(model);
    await exportOne('census', model);
    model.dispose();
    await withTpuEmulator({ chips: DEVICES }, async () => {
      const distributed = distributedModel();
      await exportOne('distributed', distributed);
      const layer = distributed.layers.find((each) => each instanceof emb.DistributedEmbedding);
      plan = layer!.plan!.toJSON();
      distributed.dispose();
    });
    python = pythonWithConverter();
    if (typeof python === 'string') return;
    const cases = [...exported].map(([title, { directory, inputs }]) => {
      return { directory, inputs, signature: 'serving_default', graph: join(folder, `${title}-graph`) };
    });
    const file = join(folder, 'cases.json');
    writeFileSync(file, JSON.stringify(cases));
    const script = new URL('./run_tools.py', import.meta.url).pathname;
    const lines = python.run(script, file).trim().split('\n');
    (JSON.parse(lines.at(-1)!) as ToolResult[]).forEach((result, i) => results.set([...exported.keys()][i]!, result));
  }, PYTHON_TIMEOUT_MS);

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('comes from tables that lie on several devices', () => {
    expect(plan.ranks.length).toBe(DEVICES);
    expect(plan.tableGroups).toEqual({ dataParallel: [2], tableParallel: [1], rowSlice: [0] });
  });

  for (const title of ['census', 'distributed']) {
    it(`is shown and run by saved_model_cli: ${title}`, () => {
      if (typeof python === 'string') return skipOrFail(python);
      const { inputs, output, predictions } = exported.get(title)!;
      const { show, outputs } = results.get(title)!;
      expect(show).toContain("signature_def['serving_default']");
      for (const name of [...Object.keys(inputs), output]) expect(show).toContain(`['${name}'] tensor_info`);
      expect(show).toContain('Method name is: tensorflow/serving/predict');
      expect(largestDifference(outputs[output]!, predictions)).toBeLessThanOrEqual(TOLERANCE);
    });

    it(`runs in tfjs-node: ${title}`, async () => {
      const { directory, inputs, output, predictions } = exported.get(title)!;
      const node = await import('@tensorflow/tfjs-node').catch((error: Error) => error.message);
      if (typeof node === 'string') return skipOrFail(node);
      const before = tf.getBackend();
      await tf.setBackend('tensorflow');
      const model = await node.node.loadSavedModel(directory);
      const given = Object.entries(inputs).map(([name, { shape, values }]) => {
        return [name, node.tensor(values, shape, 'int32')] as const;
      });
      const found = model.predict(Object.fromEntries(given), {}) as tf.NamedTensorMap;
      expect(largestDifference(Array.from(found[output]!.dataSync()), predictions)).toBeLessThanOrEqual(TOLERANCE);
      tf.dispose([Object.fromEntries(given), found]);
      model.dispose();
      await tf.setBackend(before);
    });

    it(`becomes a graph model of stock ops by the converter: ${title}`, async () => {
      if (typeof python === 'string') return skipOrFail(python);
      const { inputs, predictions } = exported.get(title)!;
      const tensors = tf.memory().numTensors;
      const path = pathToFileURL(join(folder, `${title}-graph`, 'model.json')).href;
      const model = await tf.loadGraphModel(path);
      const names = new Set(model.inputs.map(({ name }) => name));
      const given = Object.entries(inputs).map(([name, { shape, values }]) => {
        const found = [name, `serving_default_${name}:0`, `${name}:0`].find((each) => names.has(each)) ?? name;
        return [found, tf.tensor(values, shape, 'int32')] as const;
      });
      const found = model.predict(Object.fromEntries(given)) as tf.Tensor;
      expect(largestDifference(Array.from(found.dataSync()), predictions)).toBeLessThanOrEqual(TOLERANCE);
      tf.dispose([Object.fromEntries(given), found]);
      model.dispose();
      expect(tf.memory().numTensors).toBe(tensors);
    });
  }
});
