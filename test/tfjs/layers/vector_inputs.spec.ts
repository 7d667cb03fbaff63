import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { ours } from '../models/own_models.js';
import { describeForBackends } from '../../helpers/backends.js';
import { expectClose, expectNoLeakAsync } from '../../helpers/tensors.js';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';

type Symbolic = tf.SymbolicTensor;

const IDS = [4, 0, 9, 4, 2, 4, 7];
const LABELS = IDS.map((id) => [id / 10]);
const WEIGHTS = [[10, 3], [3, 1], [1]];

/** One id per sample: []; as a column: [1], which is flattened before the rest. */
type Form = 'vector' | 'column';

const FORMS: Record<string, (form: Form) => tf.LayersModel> = {
  'a sequential model': (form) => {
    const layers: tf.layers.Layer[] = [
      emb.layers.embedding({ inputDim: 10, outputDim: 3, inputShape: form === 'vector' ? [] : [1] }),
    ];
    if (form === 'column') layers.push(tf.layers.flatten());
    return tf.sequential({ layers: [...layers, tf.layers.dense({ units: 1 })] });
  },
  'tf.input': (form) => {
    const inputs = tf.input({ shape: form === 'vector' ? [] : [1], dtype: 'int32' });
    const rows = emb.layers.embedding({ inputDim: 10, outputDim: 3 }).apply(inputs);
    const flat = form === 'vector' ? rows : (tf.layers.flatten().apply(rows) as Symbolic);
    return tf.model({ inputs, outputs: tf.layers.dense({ units: 1 }).apply(flat) as Symbolic });
  },
  'the stock layer': (form) => {
    const batchInputShape = form === 'vector' ? [null] : [null, 1];
    const layers = [tf.layers.embedding({ inputDim: 10, outputDim: 3, batchInputShape })] as tf.layers.Layer[];
    if (form === 'column') layers.push(tf.layers.flatten());
    return ours.sequential({ layers: [...layers, tf.layers.dense({ units: 1 })] });
  },
};

function numbers(tensors: tf.Tensor | tf.Tensor[] | number | number[]): number[] {
  const list = [tensors].flat() as (tf.Tensor | number)[];
  const values = list.flatMap((each) => (typeof each === 'number' ? [each] : Array.from(each.dataSync())));
  tf.dispose(list.filter((each) => typeof each !== 'number'));
  return values;
}

const idsOf = (form: Form): tf.Tensor =>
  form === 'vector' ? tf.tensor1d(IDS, 'int32') : tf.tensor2d(IDS, [IDS.length, 1], 'int32');

/** All ways to feed a model, in an order; what each gave. `asNames`: inputs by their names. */
async function feed(make: (form: Form) => tf.LayersModel, form: Form): Promise<Record<string, number[]>> {
  const model = make(form);
  const values = WEIGHTS.map((shape, w) => {
    const size = tf.util.sizeFromShape(shape);
    return tf.tensor(
      Array.from({ length: size }, (_, i) => ((i * 7 + w) % 11) / 11 - 0.4),
      shape,
    );
  });
  model.setWeights(values);
  const optimizer = emb.train.adagrad({ learningRate: 0.1 });
  model.compile({ optimizer, loss: 'meanSquaredError', metrics: ['mse'] });
  const [x, y] = [idsOf(form), tf.tensor2d(LABELS)];
  const fitted: number[] = [];
  const fit = async (given: unknown, args: object): Promise<void> => {
    const { history } = await model.fit(given as tf.Tensor, y, { verbose: 0, shuffle: false, ...args });
    fitted.push(...Object.values(history).flatMap((each) => each as number[]));
  };
  const results: Record<string, number[]> = {
    predict: numbers(model.predict(x)),
    predictInBatches: numbers(model.predict([x], { batchSize: 3 })),
    predictOnBatch: numbers(model.predictOnBatch(x)),
    evaluate: numbers(model.evaluate(x, y, { batchSize: 2 })),
  };
  await fit(x, { epochs: 6, batchSize: 2 });
  await fit([x], { epochs: 2, batchSize: 7, validationSplit: 0.5 });
  await fit({ [model.inputNames[0]!]: x }, { epochs: 1, validationData: [x, y] });
  for (let step = 0; step < 4; step++) fitted.push(...numbers(await model.trainOnBatch(x, y)));
  Object.assign(results, { fitted, after: numbers(model.predict(x)) });
  tf.dispose([x, y, values]);
  model.dispose();
  optimizer.dispose();
  return results;
}

async function expectFed(make: (form: Form) => tf.LayersModel): Promise<void> {
  await expectNoLeakAsync(async () => {
    const [vector, column] = [await feed(make, 'vector'), await feed(make, 'column')];
    for (const [what, values] of Object.entries(column)) expectClose(vector[what]!, values, 1, what);
  });
}

describeForBackends(
  'one id per sample',
  ({ backend }) => {
    for (const [title, make] of Object.entries(FORMS)) {
      // tfjs has no gradient of its layer there.
      if (backend === 'wasm' && title === 'the stock layer') continue;
      it(`is fed, evaluated and trained as a column of ids is: ${title}`, () => expectFed(make));
    }

    it('is captured on tensorflow', async () => {
      const model = FORMS['tf.input']!('vector');
      const optimizer = emb.train.sgd({ learningRate: 0.1 });
      model.compile({ optimizer, loss: 'meanSquaredError' });
      const [x, y] = [idsOf('vector'), tf.tensor2d(LABELS)];
      await model.fit(x, y, { epochs: 3, verbose: 0 });
      expect(emb.stepInfo(model).captured).toBe(backend === 'tensorflow');
      tf.dispose([x, y]);
      model.dispose();
      optimizer.dispose();
    });
  },
  ['cpu native', 'wasm', 'tensorflow'],
);

describe('inputs with the batch axis alone', () => {
  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
  });

  it('are fed on virtual devices', async () => {
    await withTpuEmulator({ chips: 2 }, () => expectFed(FORMS['a sequential model']!));
  });

  it('stand beside inputs of more axes, and in models within models', async () => {
    await expectNoLeakAsync(async () => {
      const single = tf.input({ shape: [], dtype: 'int32' });
      const several = tf.input({ shape: [2], dtype: 'int32' });
      const layer = emb.layers.embedding({ inputDim: 10, outputDim: 3, weights: [new Float32Array(30).fill(0.5)] });
      const tower = tf.sequential({ layers: [emb.layers.embedding({ table: layer.table, inputShape: [] })] });
      const pooled = tf.layers.flatten().apply(layer.apply(several)) as Symbolic;
      const outputs = tf.layers.concatenate().apply([tower.apply(single) as Symbolic, pooled]) as Symbolic;
      const model = tf.model({ inputs: [several, single], outputs });
      const inputs = [tf.ones([4, 2], 'int32'), tf.tensor1d([1, 2, 3, 4], 'int32')];
      const result = model.predict(inputs, { batchSize: 3 }) as tf.Tensor;
      expect(result.shape).toEqual([4, 9]);
      expect(new Set(numbers(result))).toEqual(new Set([0.5]));
      tf.dispose(inputs);
      model.dispose();
    });
  });

  it('take vectors alone, and of ids that are no rows say which', async () => {
    const model = FORMS['a sequential model']!('vector');
    const optimizer = emb.train.sgd({ learningRate: 0.1 });
    model.compile({ optimizer, loss: 'meanSquaredError' });
    const [column, wrong, y] = [idsOf('column'), tf.tensor1d([...IDS.slice(1), 12], 'int32'), tf.tensor2d(LABELS)];
    const half = tf.tensor1d(IDS.map((id) => id / 2));
    expect(() => model.predict(column)).toThrowError(/1 dimension.*7,1/);
    expect(() => model.evaluate(column, y)).toThrowError(/1 dimension.*7,1/);
    await expectAsync(model.fit(column, y)).toBeRejectedWithError(/1 dimension.*7,1/);
    expect(() => model.predict(wrong, { batchSize: 2 })).toThrowError(/received 12 at \[6\] \(layer embedding/);
    expect(() => model.predict(half)).toThrowError(/must be integers: 4\.5 at position 2/);
    tf.dispose([column, wrong, y, half]);
    model.dispose();
    optimizer.dispose();
  });

  it('leave vectors for other inputs to tfjs, which makes columns of them', async () => {
    await expectNoLeakAsync(async () => {
      const model = FORMS['a sequential model']!('column');
      const x = idsOf('vector');
      const result = model.predict(x) as tf.Tensor;
      expect(result.shape).toEqual([7, 1]);
      tf.dispose([x, result]);
      model.dispose();
    });
  });

  it('are saved, exported and loaded', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'vectors '));
    await expectNoLeakAsync(async () => {
      const model = FORMS['a sequential model']!('vector');
      const x = idsOf('vector');
      const wanted = numbers(model.predict(x));
      await model.save(pathToFileURL(join(folder, 'saved')).href);
      await emb.exportKeras(model, join(folder, 'model.keras'));
      await emb.savedModel.export(model, join(folder, 'exported'));
      const loaded = [
        await tf.loadLayersModel(pathToFileURL(join(folder, 'saved', 'model.json')).href),
        await emb.loadKerasModel(join(folder, 'model.keras')),
        (await emb.savedModel.load(join(folder, 'exported'))) as tf.LayersModel,
      ];
      for (const each of loaded) {
        expect(each.inputs[0]!.shape).toEqual([null]);
        expect(numbers(each.predict(x))).toEqual(wanted);
        each.dispose();
      }
      x.dispose();
      model.dispose();
    });
    rmSync(folder, { recursive: true });
  });
});
