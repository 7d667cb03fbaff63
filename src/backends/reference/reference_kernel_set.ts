/** The plain, slow, obviously right implementation that the others are compared with. */
import type { KernelSet } from '../kernel_set.js';
import { embeddingBag } from './embedding_bag.js';
import { embeddingBagGrad } from './embedding_bag_grad.js';
import { embeddingBagWeightsGrad } from './embedding_bag_weights_grad.js';
import { packedBag, packedBagWeightsGrad } from './packed_bag.js';
import { packedApply } from './packed_apply.js';
import { sparseApply } from './sparse_apply.js';

/** Kernels in TypeScript that sum in double; one thread, nothing to install. */
export const referenceKernels: KernelSet = {
  name: 'reference',
  info: () => ({ implementation: 'reference', instructionSet: 'javascript', threads: 1 }),
  setThreads: () => undefined,
  embeddingBag,
  embeddingBagGrad,
  embeddingBagWeightsGrad,
  packedBag,
  packedBagWeightsGrad,
  sparseApply,
  packedApply,
};
