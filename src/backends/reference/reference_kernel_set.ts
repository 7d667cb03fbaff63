/** The plain, slow, obviously right implementation that the others are compared with. */
import type { KernelSet } from '../kernel_set.js';
import { newFloats } from '../memory.js';
import { withoutUses } from '../united_uses.js';
import { checkIds } from './bags.js';
import { embeddingBag } from './embedding_bag.js';
import { embeddingBagGrad } from './embedding_bag_grad.js';
import { embeddingBagWeightsGrad } from './embedding_bag_weights_grad.js';
import { unpacked } from './packed_bag.js';
import { packedApply } from './packed_apply.js';
import { sparseApply } from './sparse_apply.js';

/** Kernels in TypeScript that sum in double; one thread, nothing to install. */
export const referenceKernels: KernelSet = {
  name: 'reference',
  info: () => ({ implementation: 'reference', instructionSet: 'javascript', threads: 1 }),
  setThreads: () => undefined,
  allocate: (length) => newFloats('table', 'values', [length]),
  lookUp(lookups) {
    for (const { table, bags, options, pooled } of lookups) {
      if ('data' in table) embeddingBag(table, bags, options, pooled);
      else embeddingBag(...unpacked(table, bags, options), pooled);
    }
  },
  rowGradients: embeddingBagGrad,
  weightsGradient(table, gradient, bags, options, out) {
    const [floats, ids, how] = 'data' in table ? ([table, bags, options] as const) : unpacked(table, bags, options);
    embeddingBagWeightsGrad(floats, gradient, ids, how, out);
  },
  step(optimizer, steps) {
    if (steps.length > 1) for (const { table, bags, options } of steps) checkIds(bags, table.rows, options);
    for (const each of steps) {
      const { table, slots, gradient, bags, options, hyper } = withoutUses(referenceKernels, each);
      if ('data' in table) sparseApply(optimizer, table, slots, gradient, bags, options, hyper);
      else packedApply(optimizer, table, slots, gradient, bags, options, hyper);
    }
  },
};
