import { openOutputs } from '../../src/capture/row_counts.js';

const sized = (name: string, isOpen: readonly boolean[], ranks: readonly number[] = isOpen.map(() => 1)) => ({
  name,
  attributes: [],
  isOpen,
  ranks,
});

describe('first sizes that the ids decide', () => {
  it('of pooled rows are those of the row splits of each lookup', () => {
    const [tables, values, weights, numbers] = [
      [false, false],
      [true, true],
      [true, false],
      [false, false],
    ];
    for (const splits of [
      [true, false],
      [false, true],
    ]) {
      const isOpen = [tables, values, splits, weights, numbers].flat() as boolean[];
      expect(openOutputs(sized('EmbeddingBags', isOpen))).toEqual(splits);
    }
    expect(openOutputs(sized('EmbeddingBag', [false, true, false, true]))).toEqual([false]);
    expect(openOutputs(sized('EmbeddingBag', [false, true, true, true]))).toEqual([true]);
  });

  it('are none of a sum, and of a product only beside a number', () => {
    expect(openOutputs(sized('Sum', [true, false]))).toEqual([false]);
    expect(openOutputs(sized('Mul', [true, false], [1, 0]))).toEqual([true]);
    expect(openOutputs(sized('Mul', [true, false], [1, 1]))).toBeNull();
    expect(openOutputs(sized('Relu', [true]))).toBeNull();
    expect(openOutputs(sized('Relu', [false]))).toEqual([]);
  });
});
