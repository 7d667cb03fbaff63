/** What rows of keys begin with: the C core and JavaScript write the same. */
import type { Fill } from '../../../src/backends/fill.js';
import { platform } from '../../../src/base/platform.js';
import { writeStartRows } from '../../../src/tables/keys/start_rows.js';
import { Random } from '../../helpers/random.js';
import 'tfjs-embeddings/node';

const FILLS: readonly Fill[] = [
  { kind: 'constant', value: 0.5, seed: 0 } as never,
  { kind: 'uniform', min: -0.05, max: 0.05, seed: 0 },
  { kind: 'uniform', min: 3, max: 3, seed: 0 },
  { kind: 'normal', mean: 1, deviation: 2, seed: 0 },
  { kind: 'truncatedNormal', mean: 0, deviation: 1e-3, seed: 0 },
];

describe('rows that keys begin with', () => {
  it('are the same from the C core, for any key, seed and width', () => {
    const core = platform().keys;
    if (core === undefined) throw new Error('no addon here');
    const spy = spyOn(core, 'fillKeyedRows').and.callThrough();
    const random = new Random(5);
    for (const fill of FILLS) {
      for (const columns of [1, 2, 3, 64, 1500]) {
        for (const seed of [0, 7, 2 ** 32 + 3, 2 ** 53 - 1]) {
          const extremes = [0, 0, -1, -1, 0, -(2 ** 31), -1, 2 ** 31 - 1];
          const drawn = Array.from({ length: 80 }, () => random.whole(-(2 ** 31), 2 ** 31));
          const keys = Int32Array.from([...extremes, ...drawn]);
          const [ours, theirs] = [0, 0].map(() => new Float32Array((keys.length / 2) * columns));
          writeStartRows(fill, seed, keys, ours!);
          writeStartRows(fill, seed, keys, theirs!, null);
          expect(Buffer.compare(Buffer.from(ours!.buffer), Buffer.from(theirs!.buffer)))
            .withContext(`${fill.kind}, ${columns} columns, seed ${seed}`)
            .toBe(0);
        }
      }
    }
    expect(spy.calls.count()).toBe(3 * 5 * 4);
  });

  it('are none of no key', () => {
    const rows = new Float32Array(0);
    for (const fill of FILLS) expect(() => writeStartRows(fill, 1, new Int32Array(0), rows)).not.toThrow();
  });
});
