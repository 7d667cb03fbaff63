/** Products and sums of a recorded step in ops of ours and fewer of them: the same numbers, on other inputs too. */
import { Random } from '../../helpers/random.js';
import { namesOf, opsOf } from './ops_left.js';
import { takeAllForExact } from './all_exact.js';
import { describeSteps } from '../training.js';

describeSteps('fewerOps', () => {
  takeAllForExact();
  it('multiplies small matrices of any sizes, transposed or not, as TensorFlow does', () => {
    const random = new Random(8);
    const sizes = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 65];
    const draw = (): number => sizes[random.whole(0, sizes.length)]!;
    for (let round = 0; round < 60; round++) {
      const [m, k, n] = [draw(), draw(), draw()];
      const [isA, isB] = [round % 2 === 1, round % 4 > 1];
      const shapes = [isA ? [k, m] : [m, k], isB ? [n, k] : [k, n]];
      const names = namesOf(opsOf(shapes, ([a, b]) => [a!.matMul(b!, isA, isB)], round));
      expect(names).withContext(`[${m}, ${k}] [${k}, ${n}]`).toEqual(['EmbeddingProducts']);
    }
  });

  it('leaves large products, products of several matrices and those of empty ones to TensorFlow or gives them', () => {
    expect(
      namesOf(
        opsOf(
          [
            [128, 128],
            [128, 128],
          ],
          ([a, b]) => [a!.matMul(b!).neg()],
        ),
      ),
    ).toContain('BatchMatMulV2');
    const batches = opsOf(
      [
        [2, 3, 4],
        [2, 4, 5],
      ],
      ([a, b]) => [a!.matMul(b!).neg()],
    );
    expect(namesOf(batches)).toEqual(['BatchMatMulV2', 'Neg']);
    expect(
      namesOf(
        opsOf(
          [
            [3, 0],
            [0, 2],
          ],
          ([a, b]) => [a!.matMul(b!).neg()],
        ),
      ),
    ).toContain('Neg');
  });

  it('runs products that do not wait for one another as one op, and others apart', () => {
    const shapes = [
      [4, 4],
      [4, 4],
      [4, 4],
    ];
    const apart = opsOf(shapes, ([a, b, c]) => [a!.matMul(b!), a!.matMul(c!), b!.matMul(c!)]);
    expect(namesOf(apart)).toEqual(['EmbeddingProducts']);
    const chain = opsOf(shapes, ([a, b, c]) => [a!.matMul(b!).matMul(c!)]);
    expect(namesOf(chain)).toEqual(['EmbeddingProducts', 'EmbeddingProducts']);
    const turned = opsOf(shapes, ([a, b]) => [a!.matMul(b!), a!.matMul(b!, true), a!.matMul(b!, true, true)]);
    expect(namesOf(turned)).toEqual(['EmbeddingProducts', 'EmbeddingProducts', 'EmbeddingProducts']);
    // Taken before the last of its group is made, and by one that a later member needs.
    const mixed = opsOf(shapes, ([a, b, c]) => [a!.matMul(b!).square(), b!.square().matMul(c!), a!.matMul(c!).neg()]);
    expect(namesOf(mixed).filter((name) => name === 'EmbeddingProducts').length).toBe(1);
  });

  it('sums products as they are made, and other tensors together, in their order', () => {
    const pairs = [
      [3, 4],
      [4, 5],
      [3, 2],
      [2, 5],
      [3, 5],
      [3, 5],
    ];
    const sum = opsOf(pairs, ([a, b, c, d]) => [a!.matMul(b!).add(c!.matMul(d!))]);
    expect(namesOf(sum)).toEqual(['EmbeddingProductSum']);
    const more = opsOf(pairs, ([a, b, c, d, e, f]) => [e!.add(a!.matMul(b!)).add(f!).add(c!.matMul(d!)).neg()]);
    expect(namesOf(more)).toEqual(['EmbeddingProductSum', 'Add', 'EmbeddingProductSum', 'Neg']);
    const two = opsOf(pairs, ([a, b, c, d, e]) => [a!.matMul(b!).add(e!).add(c!.matMul(d!)).neg()]);
    expect(namesOf(two)).toEqual(['EmbeddingProducts', 'Add', 'EmbeddingProductSum', 'Neg']);
    const square = [...Array<number[]>(5)].map(() => [3, 3]);
    const kinds = opsOf(square, ([a, b, c, d, e]) => {
      return [
        a!
          .matMul(b!)
          .add(c!.matMul(d!, false, true))
          .add(d!.matMul(e!, false, true)),
      ];
    });
    expect(namesOf(kinds)).toEqual(['EmbeddingProducts', 'EmbeddingProductSum']);
  });

  it('keeps a product or a sum that somebody else takes too, and sums of tensors of several shapes', () => {
    const shapes = [
      [3, 3],
      [3, 3],
      [3, 3],
      [1, 3],
    ];
    const product = opsOf(shapes, ([a, b, c]) => {
      const both = a!.matMul(b!);
      return [both.add(a!.matMul(c!)), both.square()];
    });
    expect(namesOf(product).sort()).toEqual(['EmbeddingProductSum', 'EmbeddingProducts', 'Square']);
    const sum = opsOf(shapes, ([a, b, c]) => {
      const both = a!.add(b!);
      return [both.add(c!), both.square()];
    });
    expect(namesOf(sum).sort()).toEqual(['Add', 'Add', 'Square']);
    const large = [
      [400, 400],
      [400, 400],
      [400, 400],
    ];
    expect(namesOf(opsOf(large, ([a, b, c]) => [a!.add(b!).add(c!)]))).toEqual(['Add', 'Add']);
    const nested = opsOf(shapes, ([a, b, c]) => [a!.add(b!.add(c!))]);
    expect(namesOf(nested)).toEqual(['Add', 'Add']);
    const row = opsOf(shapes, ([a, b, c, d]) => [a!.add(b!).add(d!).add(c!)]);
    expect(namesOf(row)).toEqual(['Add', 'Add', 'Add']);
    expect(namesOf(opsOf(shapes, ([a, b]) => [a!.add(a!).add(b!).add(a!)]))).toEqual(['EmbeddingSum']);
  });
});
