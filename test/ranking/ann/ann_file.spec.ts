import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { casesOf } from '../../forms/forms.js';
import { expectRejection } from '../../helpers/errors.js';
import { Random } from '../../helpers/random.js';

describe('a file of an index', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ann-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const random = new Random(31);
  const rows = (count: number): number[][] => {
    return Array.from({ length: count }, () => Array.from({ length: 5 }, () => Math.fround(random.next() - 0.5)));
  };
  const found = (index: emb.ann.AnnIndex): number[][] => {
    const queries = tf.tensor2d([[1, 0, -1, 0.5, 2]]);
    const { values, indices } = index.search(queries, 20);
    const read = [[...values.dataSync()], [...indices.dataSync()]];
    tf.dispose([queries, values, indices]);
    return read;
  };

  for (const [codes, keepRows, metric] of [
    ['int8', true, 'dot'],
    ['int8', false, 'cosine'],
    ['none', true, 'cosine'],
  ] as const) {
    it(`gives the same index again, which goes on as the first: ${codes}, ${metric}`, async () => {
      const before = tf.memory().numTensors;
      const file = join(folder, `${codes}.${metric}.safetensors`);
      const index = emb.ann.build(rows(300), { lists: 12, codes, keepRows, metric });
      index.remove([3, 4, 5]);
      index.add([900, 901], rows(2));
      await index.save(file);
      const loaded = await emb.ann.load(file);
      expect([loaded.size, loaded.lists, loaded.metric, loaded.codes]).toEqual([299, 12, metric, codes]);
      expect(found(loaded)).toEqual(found(index));
      const more = rows(40);
      for (const each of [index, loaded])
        each.add(
          more.map((_, i) => 7 * i),
          more,
        );
      for (const each of [index, loaded]) each.remove([0, 1, 2, 900]);
      expect(found(loaded)).toEqual(found(index));
      // Bytes serve as well as a path, and the arrays are those that anybody reads.
      expect(found(await emb.ann.load(readFileSync(file)))[1]!.length).toBe(20);
      const arrays = await emb.weights.readSafetensors(file);
      expect(arrays['centroids']!.shape).toEqual([12, 5]);
      expect(arrays['ids']!.shape).toEqual([299]);
      tf.dispose(arrays);
      expect(tf.memory().numTensors).toBe(before);
    });
  }

  it('holds an index without rows', async () => {
    const file = join(folder, 'empty.safetensors');
    const index = emb.ann.build(rows(4), { lists: 2 });
    index.remove([0, 1, 2, 3]);
    await index.save(file);
    const loaded = await emb.ann.load(file);
    expect(loaded.size).toBe(0);
    loaded.add([1], rows(1));
    expect(loaded.size).toBe(1);
  });

  it('is refused where it is damaged, and where it is another file', async () => {
    const file = join(folder, 'whole.safetensors');
    const index = emb.ann.build(rows(60), { lists: 4 });
    await index.save(file);
    const bytes = readFileSync(file);
    for (let round = 0; round < casesOf('ANN_MUTATIONS'); round++) {
      const damaged = Uint8Array.from(bytes);
      const at = random.chance(0.5) ? random.whole(0, 400) : random.whole(0, bytes.length);
      damaged[at]! ^= 1 << random.whole(0, 8);
      const cut = random.chance(0.2) ? damaged.slice(0, at) : damaged;
      await expectRejection(() => emb.ann.load(cut), 'ValueError', 'source');
    }
    const other = join(folder, 'other.safetensors');
    await emb.weights.writeSafetensors(other, { rows: tf.zeros([2, 2]) });
    await expectRejection(() => emb.ann.load(other), 'ValueError', 'source', 'other.safetensors');
    await expectRejection(() => emb.ann.load(join(folder, 'none')), 'ValueError', 'source');
    await expectRejection(() => emb.ann.load(5 as never), 'TypeError', 'source');
    await expectRejection(() => index.save(5 as never), 'TypeError', 'file');
    await expectRejection(() => index.save(join(folder, 'no', 'where')), 'RuntimeError', 'path');
    expect(readdirSync(folder).filter((name) => name.includes('tmp'))).toEqual([]);
    tf.disposeVariables();
  });
});
