/** Open tables whose rows are halves. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeForBackends } from '../../helpers/backends.js';
import { artifactsOf, expectClose, expectError, leakFree, reload, take } from '../../layers/setup.js';
import { batches, open, openModel, predicted, startOf, train } from './setup.js';

const asked = Array.from({ length: 24 }, (_, i) => [`k${i}`, `k${(i * 7) % 24}`]);
const tableOf = (model: tf.LayersModel): emb.OpenTable => Object.values(emb.openTables(model))[0]!;

describeForBackends('open tables of float16', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'halves '));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it(
    'train near to those of float32, and go on to the bit from files, in another capacity and by deltas',
    leakFree(async () => {
      const all = batches(14);
      const args = { name: 'items', storage: 'float16', unknown: { shared: 4 }, admit: { after: 2 } } as const;
      const make = (): emb.SparseOptimizer => emb.train.adagrad({ learningRate: 0.1 });
      const [halves, floats] = [make(), make()];
      const model = openModel(open({ ...args, capacity: 14 }), halves);
      const plain = openModel(open({ ...args, name: 'plain', capacity: 14, storage: 'float32' }), floats);
      await train(model, all.slice(0, 7));
      await train(plain, all.slice(0, 7));
      expectClose(predicted(model, asked), predicted(plain, asked), 0.01);
      const again = await reload(await artifactsOf(model, { includeOptimizer: true }));
      expect(tableOf(again).storage).toBe('float16');
      for (const each of [model, again]) tableOf(each).capacity = 40;
      const follower = open({ ...args, capacity: 40 });
      const file = join(folder, 'halves');
      const { mark } = await tableOf(model).writeDelta(file, { since: null });
      await follower.applyDelta(file);
      expect(await train(again, all.slice(7))).toEqual(await train(model, all.slice(7)));
      expect(predicted(again, asked)).toEqual(predicted(model, asked));
      await tableOf(model).writeDelta(file, { since: mark });
      await follower.applyDelta(file);
      expect(take(follower.lookup(asked))).toEqual(take(tableOf(model).lookup(asked)));
      follower.dispose();
      for (const each of [model, plain, again]) each.dispose();
      for (const each of [halves, floats, again.optimizer]) each.dispose();
    }),
  );
});

describe('open tables of float16', () => {
  beforeAll(async () => {
    await tf.setBackend('cpu');
  });

  it('keep what halves are, and refuse what they cannot', async () => {
    const table = open({ storage: 'float16' });
    tf.tidy(() =>
      table.upsert(
        ['a', 'b'],
        tf.tensor2d([
          [1, 0.5, -2],
          [2049, 65504, 1e-7],
        ]),
      ),
    );
    expect(take(table.lookup(['b', 'a', 'c']))).toEqual([2048, 65504, Math.fround(2 ** -23), 1, 0.5, -2, 0, 0, 0]);
    const large = tf.tensor2d([[1, 1e6, 1]]);
    expectError(() => table.upsert(['d'], large), 'ValueError', 'storage');
    expect(table.has(['d'])).toEqual([false]);
    const optimizer = emb.train.sgd({ learningRate: 0 });
    const model = openModel(table, optimizer);
    await train(model, [{ keys: [['new', 'new']], y: [[1]] }]);
    expectClose(take(table.lookup(['new'])), startOf('new'), 1e-3);
    const other = open({ name: table.name });
    await expectAsync(writeAndApply(table, other)).toBeRejectedWithError(/storage "float32"/);
    await expectAsync((async () => emb.quantize(model, { dtype: 'float16' }))()).toBeRejectedWithError(/open table/);
    large.dispose();
    other.dispose();
    model.dispose();
    optimizer.dispose();
  });
});

async function writeAndApply(from: emb.OpenTable, to: emb.OpenTable): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'halves '));
  try {
    await from.writeDelta(join(folder, 'all'), { since: null });
    await to.applyDelta(join(folder, 'all'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
