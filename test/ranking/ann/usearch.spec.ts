import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import usearch from 'usearch';
import * as emb from '../../../src/node.js';
import { ROOT } from '../../helpers/project.js';

/** The block of the page that the tests of pages leave out, without its import. */
function recipe(): string {
  const page = readFileSync(join(ROOT, 'docs/neighbours.md'), 'utf8');
  const [block] = [...page.matchAll(/^```js not run\n(.*?)^```$/gms)].map(([, code]) => code!);
  const imported = "import usearch from 'usearch';\n";
  expect(block).toContain(imported);
  return block!.replace(imported, '');
}

describe('the recipe with usearch', () => {
  it('runs as printed, and finds what exact search finds', () => {
    const normal = (rows: number, seed: number): tf.Tensor2D => tf.randomNormal([rows, 32], 0, 1, 'float32', seed);
    const [items, users] = [normal(2000, 7), normal(1, 8)];
    const printed: unknown[] = [];
    const run = new Function('usearch', 'items', 'users', 'console', recipe());
    run(usearch, items, users, { log: (line: unknown) => printed.push(line) });
    const found = printed[0] as [id: number, product: number][];
    expect(found.length).toBe(3);
    const exact = emb.topK(users, items, 20);
    const [values, ids] = [exact.values.arraySync()[0]!, exact.indices.arraySync()[0]!];
    for (const [id, product] of found) {
      // A graph may miss a row, but what it finds has the product that it tells.
      expect(ids).toContain(id);
      expect(product).toBeCloseTo(values[ids.indexOf(id)]!, 4);
    }
    tf.dispose([items, users, exact.values, exact.indices]);
  });
});
