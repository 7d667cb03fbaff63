/** Steps without clipping, decay or limits take loops of their own, by width: they give the bits of the general one. */
import { Buffer } from 'node:buffer';
import {
  floatTable,
  type BagOptions,
  type HostBags,
  type HostTable,
  type KernelSet,
} from '../../../src/backends/kernel_set.js';
import { NEUTRAL_HYPER, packHyper, type Hyper } from '../../../src/rules/hyper.js';
import { namedKernelSet } from '../../../src/backends/registry.js';
import { UPDATE_NAMES, slotShapes, type UpdateName } from '../../../src/rules/rules.js';
import { skipOrFail } from '../../helpers/backends.js';
import { Random } from '../../helpers/random.js';
import 'tfjs-embeddings/node';
import { stepOne } from '../../helpers/kernel_calls.js';

const WIDTHS = [1, 8, 13, 16, 32, 33, 48, 64, 77, 128, 144];
const [ROWS, BATCH] = [97, 40];
const OPTIONS: BagOptions = { combiner: 'sum', outOfRange: 'zero', maxNorm: 0 };

const PLAIN: Hyper = {
  ...NEUTRAL_HYPER,
  learningRate: 0.1,
  epsilon: 1e-7,
  momentum: 0.9,
  beta1: 0.9,
  beta2: 0.99,
  l1: 1e-3,
  multiplyLinearByLearningRate: 1,
};
/** A limit that no gradient reaches. */
const GENERAL: Hyper = { ...PLAIN, clipGradientMax: 1e30 };

const kernels = (): KernelSet => namedKernelSet('native') as KernelSet;

/** Floats that may begin inside a cache line; some are -0. */
function floats(random: Random, length: number): Float32Array {
  const room = new Float32Array(length + 4);
  const found = room.subarray(random.whole(0, 4)).subarray(0, length);
  for (let i = 0; i < length; i++) found[i] = random.chance(0.1) ? -0 : random.next() - 0.5;
  return found;
}

/** Rows that occur once, rows that occur often, ids that name no row. */
function drawBags(random: Random, isWeighted: boolean): HostBags {
  const rowSplits = new Int32Array(BATCH + 1);
  for (let b = 0; b < BATCH; b++) rowSplits[b + 1] = rowSplits[b]! + random.whole(0, 4);
  const values = Int32Array.from({ length: rowSplits[BATCH]! }, () =>
    random.chance(0.3) ? random.whole(0, 5) : random.whole(-1, ROWS + 1),
  );
  return { values, rowSplits, weights: isWeighted ? floats(random, values.length) : null };
}

function step(
  optimizer: UpdateName,
  {
    table,
    slots,
    gradient,
  }: { table: HostTable<Float32Array>; slots: readonly Float32Array[]; gradient: Float32Array },
  bags: HostBags,
  hyper: Hyper,
): Buffer {
  const data = table.data.slice();
  const own = slots.map((slot) => slot.slice());
  stepOne(kernels(), optimizer, { ...table, data }, own, gradient, bags, OPTIONS, packHyper(hyper));
  return Buffer.concat([data, ...own].map(({ buffer }) => new Uint8Array(buffer)));
}

describe('a plain step', () => {
  beforeEach(() => {
    if (namedKernelSet('native') === undefined) skipOrFail('no addon here');
  });

  for (const optimizer of UPDATE_NAMES) {
    it(`gives the bits of the general one at every width: ${optimizer}`, () => {
      const random = new Random(11);
      for (const dim of WIDTHS) {
        for (const isWeighted of [false, true]) {
          const slots = slotShapes(optimizer, [ROWS, dim]).map(([rows, columns = 1]) =>
            floats(random, rows! * columns).map((x) => x * x),
          );
          const table = floatTable(floats(random, ROWS * dim), ROWS, dim);
          const bags = drawBags(random, isWeighted);
          const start = { table, slots, gradient: floats(random, BATCH * dim) };
          const plain = step(optimizer, start, bags, PLAIN);
          const what = `dim ${dim}, ${isWeighted ? 'weighted' : 'unweighted'}`;
          expect(plain.equals(step(optimizer, start, bags, GENERAL)))
            .withContext(what)
            .toBeTrue();
          const untouched = Buffer.from(table.data.slice().buffer);
          expect(plain.subarray(0, untouched.length).equals(untouched)).withContext(what).toBeFalse();
        }
      }
    });
  }
});
