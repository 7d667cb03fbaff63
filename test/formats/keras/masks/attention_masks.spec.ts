/** In Keras 3 an attention of several heads takes the masks of its operands away: what runs later sees none. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../../src/node.js';
import { inKerasOrder } from '../../../../src/formats/keras/call_order.js';
import { TensorRef } from '../../../../src/formats/keras/import/nodes.js';
import { expectClose, expectNoLeakAsync } from '../../../helpers/tensors.js';
import { expectSameAsKeras, goldenPath, inputsOf, tensorsOf, type KerasCase } from '../keras_cases.js';

interface TrainedCase extends KerasCase {
  readonly file: string;
  readonly targets: KerasCase['outputs'];
  readonly loss: number;
  readonly after: KerasCase['outputs'];
}

const FOLDER = goldenPath('keras_files/early_masks');
const LISTED = JSON.parse(readFileSync(join(FOLDER, 'cases.json'), 'utf8')) as TrainedCase[];
const CASES = LISTED.filter(({ file }) => file.includes('attention')).map((each) => {
  return { ...each, name: each.file, path: join(FOLDER, each.file) };
});

describe('Masks that an attention of Keras 3 takes away', () => {
  let folder: string;

  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
    folder = mkdtempSync(join(tmpdir(), 'attention masks '));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  async function expectTrainsAsKeras(model: tf.LayersModel, golden: TrainedCase): Promise<void> {
    const [inputs, targets] = [inputsOf(model, golden), tensorsOf(golden.targets)];
    const optimizer = tf.train.sgd(0.3);
    model.compile({ optimizer, loss: golden.targets.map(() => 'meanSquaredError') });
    const told = [await model.trainOnBatch(Object.values(inputs), targets)].flat() as number[];
    expectClose([told[0]!], [golden.loss], [golden.loss], `${golden.name}, loss`, 1e-5);
    expectSameAsKeras(model, { ...golden, outputs: golden.after });
    tf.dispose([inputs, targets]);
    optimizer.dispose();
  }

  for (const golden of CASES) {
    it(`are not there: predictions, loss and a step are those of Keras: ${golden.name}`, async () => {
      await expectNoLeakAsync(async () => {
        const model = await emb.loadKerasModel(golden.path);
        expectSameAsKeras(model, golden);
        await expectTrainsAsKeras(model, golden);
        model.dispose();
      });
    });

    it(`are not there in what is written again, or it is refused by name: ${golden.name}`, async () => {
      await expectNoLeakAsync(async () => {
        const model = await emb.loadKerasModel(golden.path);
        const path = join(folder, golden.name);
        const refused = await emb.exportKeras(model, path).catch((error: Error) => error);
        model.dispose();
        if (refused instanceof Error) {
          expect(refused).toBeInstanceOf(emb.ValueError);
          expect(refused.message).toMatch(/mask/);
          return;
        }
        const again = await emb.loadKerasModel(path);
        expectSameAsKeras(again, golden);
        await expectTrainsAsKeras(again, golden);
        again.dispose();
      });
    });
  }
});

describe('Models with attention of this package', () => {
  const made = (isMasked: boolean): tf.LayersModel => {
    const ids = tf.input({ shape: [4], dtype: 'int32' });
    const table = tf.layers.embedding({ inputDim: 7, outputDim: 4, maskZero: isMasked });
    const x = table.apply(ids) as tf.SymbolicTensor;
    const heads = ['one', 'two'].map((name) => {
      return emb.layers.multiHeadAttention({ name, numHeads: 2, keyDim: 3 }).apply([x, x]) as tf.SymbolicTensor;
    });
    return tf.model({ inputs: ids, outputs: tf.layers.concatenate().apply(heads) as tf.SymbolicTensor });
  };

  it('are no files of Keras where two attentions have a query with one mask', async () => {
    await tf.setBackend('cpu');
    const model = made(true);
    const path = join(tmpdir(), `refused ${process.pid}.keras`);
    await expectAsync(emb.exportKeras(model, path)).toBeRejectedWithError(
      emb.ValueError,
      /query_mask.*one call of an attention.*2 calls/,
    );
    model.dispose();
    const whole = made(false);
    await emb.exportKeras(whole, path);
    rmSync(path);
    whole.dispose();
  });
});

describe('The order of calls in Keras 3', () => {
  const call = (
    layer: string,
    node: number,
    ...from: [string, number][]
  ): Parameters<typeof inKerasOrder>[0][number] => {
    return { layer, node, args: from.map(([name, at]) => new TensorRef(name, at, 0)), kwargs: {}, tellsMask: true };
  };

  it('begins with what is furthest from the outputs, all calls of one layer together', () => {
    const calls = [
      call('near', 0, ['x', 0]),
      call('far', 0, ['x', 0]),
      call('farther', 0, ['far', 0]),
      call('shared', 0, ['x', 0]),
      call('shared', 1, ['farther', 0]),
      call('join', 0, ['near', 0], ['shared', 1], ['shared', 0]),
      call('unused', 0, ['x', 0]),
    ];
    const order = inKerasOrder(calls, [new TensorRef('join', 0, 0)]).map(({ layer, node }) => `${layer} ${node}`);
    expect(order).toEqual(['far 0', 'farther 0', 'near 0', 'shared 1', 'shared 0', 'join 0', 'unused 0']);
  });

  it('has all calls of a layer as far from the outputs as the one that was furthest before', () => {
    const calls = [
      call('shared', 0, ['x', 0]),
      call('shared', 1, ['x', 0]),
      call('middle', 0, ['shared', 0]),
      call('join', 0, ['shared', 1], ['middle', 0]),
    ];
    const order = inKerasOrder(calls, [new TensorRef('join', 0, 0)]).map(({ layer, node }) => `${layer} ${node}`);
    expect(order).toEqual(['shared 1', 'shared 0', 'middle 0', 'join 0']);
  });

  it('has tensors without a name before those that have one, and these by name', () => {
    const calls = ['a', 'b', 'c'].map((layer) => call(layer, 0, ['x', 0]));
    const kwargs = { value: new TensorRef('a', 0, 0), key: new TensorRef('b', 0, 0) };
    calls.push({ ...call('attend', 0, ['c', 0]), kwargs });
    const order = inKerasOrder(calls, [new TensorRef('attend', 0, 0)]).map(({ layer }) => layer);
    expect(order).toEqual(['c', 'b', 'a', 'attend']);
  });
});
