/** Rows of every width: loops over columns have an end for every number of vectors that is left, which depends on the processor. */
import { NEUTRAL_HYPER, packHyper } from '../../src/rules/hyper.js';
import { floatTable, type BagOptions, type KernelSet } from '../../src/backends/kernel_set.js';
import { referenceKernels } from '../../src/backends/reference/reference_kernel_set.js';
import { copyTable } from './bag_cases.js';
import { expectClose } from './tensors.js';
import { lookUpInto, stepOne } from './kernel_calls.js';

type Kernels = Pick<KernelSet, 'lookUp' | 'rowGradients' | 'step'>;

export function itReachesEveryColumn(kernels: () => Kernels): void {
  it('reaches every column of rows of any width', () => {
    const options: BagOptions = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 };
    const whole = (length: number, most: number): Float32Array =>
      Float32Array.from({ length }, (_, i) => 1 + ((7 * i) % most));
    const hyper = packHyper({ ...NEUTRAL_HYPER, learningRate: 1 });
    for (let dim = 1; dim <= 300; dim += dim % 16 === 0 ? 1 : 5) {
      const table = floatTable(whole(3 * dim, 13), 3, dim);
      const gradient = whole(2 * dim, 11);
      for (const weights of [null, Float32Array.of(1, 2, 3)]) {
        const bags = { values: Int32Array.of(2, 0, 2), rowSplits: Int32Array.of(0, 2, 3), weights };
        const all = (set: Kernels): Float32Array[] => {
          const pooled = new Float32Array(2 * dim).fill(NaN);
          lookUpInto(set, table, bags, options, pooled);
          const { rowGradients } = set.rowGradients(gradient, bags, table, options);
          const stepped = copyTable(table);
          stepOne(set, 'sgd', stepped, [], gradient, bags, options, hyper);
          return [pooled, rowGradients, stepped.data];
        };
        const expected = all(referenceKernels);
        // Whole numbers: sums are exact in any order.
        all(kernels()).forEach((each, i) => expectClose(each, expected[i]!, 0, `dim ${dim} [${i}]`));
      }
    }
  });
}
