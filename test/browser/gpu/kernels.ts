/** Kernels of the backend in use against the reference, over generated batches. Reads wait for the GPU. */
import * as tf from '@tensorflow/tfjs';
import type { BagTensors } from '../../../src/backends/bag_tensors.js';
import type { HostBags, HostTable } from '../../../src/backends/kernel_set.js';
import { roundingKey } from '../../../src/backends/rounding.js';
import { referenceKernels } from '../../../src/backends/reference/reference_kernel_set.js';
import { currentBackend } from '../../../src/backends/registry.js';
import { packHyper } from '../../../src/rules/hyper.js';
import { slotShapes, UPDATE_NAMES, type UpdateName } from '../../../src/rules/rules.js';
import { bagCase, copyTable, drawnHyper, hyperCase, usedSlots, type BagCase } from '../../helpers/bag_cases.js';
import { lookUpInto, stepOne } from '../../helpers/kernel_calls.js';
import { gradientMagnitude, pooledMagnitudes, weightsGradientMagnitude } from '../../helpers/magnitudes.js';
import { packedCase } from '../../helpers/packed_suite.js';
import { firstDifference } from '../../helpers/tensors.js';
import { tableOf } from '../../../src/backends/table.js';

type Numbers = Float32Array | Int32Array;

/** Results by name, each with how large its terms are. */
interface Compared {
  readonly what: string;
  readonly ours: Numbers;
  readonly theirs: Numbers;
  readonly magnitude: number | Float64Array;
}

async function take(tensor: tf.Tensor): Promise<Numbers> {
  const values = await tensor.data();
  tensor.dispose();
  return values as Numbers;
}

/** Ids as tensors; `onGpu`: the host is to know nothing of them, as of what an op makes. */
function bagTensors({ values, rowSplits, weights }: HostBags, onGpu: boolean): BagTensors {
  const ids = tf.tensor1d(values, 'int32');
  const made =
    onGpu && values.length > 0 ? tf.tidy(() => ids.add(tf.scalar(1, 'int32')).sub(tf.scalar(1, 'int32'))) : null;
  if (made !== null) ids.dispose();
  return {
    values: (made ?? ids) as tf.Tensor1D,
    rowSplits: tf.tensor1d(rowSplits, 'int32'),
    weights: weights === null ? null : tf.tensor1d(weights),
  };
}

function freeBags({ values, rowSplits, weights }: BagTensors): void {
  tf.dispose([values, rowSplits, ...(weights === null ? [] : [weights])]);
}

/** Lookups and gradients of a case; ids that only the GPU knows have no gradient by row, as its shape would need a read. */
async function lookedUp(example: BagCase, packed: HostTable | null, onGpu: boolean): Promise<Compared[]> {
  const { table: plain, bags: host, options, gradient: given } = example;
  const { rows, dim } = plain;
  const backend = currentBackend();
  const table = variableOf(packed ?? plain);
  const bags = bagTensors(host, onGpu);
  const gradient = tf.tensor2d(given, [host.rowSplits.length - 1, dim]);
  const found: Compared[] = [];

  const pooled = new Float32Array(given.length);
  lookUpInto(referenceKernels, plain, host, options, pooled);
  const [mine] = backend.lookUp([{ table: tableOf(table), bags, options }]);
  const magnitude = pooledMagnitudes(example);
  found.push({ what: 'pooled', ours: await take(mine!.pooled), theirs: pooled, magnitude });

  if (!onGpu) {
    const wanted = referenceKernels.rowGradients(given, host, plain, options);
    const ofRows = tf.tidy(() => backend.gradient.byRow({ gradient, bags, options }, rows, tableOf(table)));
    const size = gradientMagnitude(example);
    found.push({ what: 'ids', ours: await take(ofRows.uniqueIds), theirs: wanted.uniqueIds, magnitude: 0 });
    found.push({ what: 'by row', ours: await take(ofRows.rowGradients), theirs: wanted.rowGradients, magnitude: size });
  }
  if (host.weights !== null) {
    const wanted = new Float32Array(host.values.length);
    referenceKernels.weightsGradient(plain, given, host, options, wanted);
    const ours = await take(backend.gradient.byWeight(tableOf(table), { gradient, bags, options }));
    found.push({ what: 'by weight', ours, theirs: wanted, magnitude: 4 * weightsGradientMagnitude(example) });
  }
  freeBags(bags);
  tf.dispose([table, gradient]);
  return found;
}

function variableOf({ codec, data, rows, dim }: HostTable): tf.Variable {
  return tf.tidy(() => {
    const variable = tf.variable(tf.tensor2d(data.slice(), [rows, codec.words(dim)], codec.dtype));
    if (!codec.isPlain) tableOf(variable).setForm({ codec, dim });
    return variable;
  });
}

/** A step of the optimizer of the seed. Packed rows may be rounded the other way where their last bits are in doubt. */
async function stepped(example: BagCase, packed: HostTable | null, seed: number, onGpu: boolean): Promise<Compared[]> {
  // Each sixth case is one of float16.
  const number = packed === null ? seed : Math.floor(seed / 6);
  const optimizer: UpdateName = UPDATE_NAMES[number % UPDATE_NAMES.length]!;
  const { table: plain, bags: host, options, gradient: given } = example;
  const { rows, dim } = plain;
  const drawn = seed % 5 === 4 ? drawnHyper(seed) : hyperCase(optimizer, seed);
  const hyper = packHyper({ ...drawn, ...roundingKey({ seed, step: seed + 1, rows, dim }) });

  const slots = usedSlots(optimizer, plain, seed);
  const table = variableOf(packed ?? plain);
  const state = slots.map((slot, i) =>
    tf.tidy(() => tf.variable(tf.tensor(slot.slice(), slotShapes(optimizer, [rows, dim])[i]))),
  );
  const bags = bagTensors(host, onGpu);
  const gradient = tf.tensor2d(given, [host.rowSplits.length - 1, dim]);
  const entries = [{ gradient, bags, options }];
  currentBackend().step([{ optimizer, table: tableOf(table), slots: state, entries, dense: null, hyper }]);

  const wanted: HostTable = packed === null ? copyTable(plain) : { ...packed, data: packed.data.slice() };
  stepOne(referenceKernels, optimizer, wanted, slots, given, host, options, hyper);
  const size = (1 + gradientMagnitude(example)) ** 2;
  const ours = await take(table);
  const values: Compared =
    packed === null
      ? { what: optimizer, ours, theirs: wanted.data, magnitude: size }
      : ofHalves(optimizer, wanted.codec.unpack(ours, dim), wanted.codec.unpack(wanted.data, dim));
  const found = [values];
  for (const [i, slot] of slots.entries()) {
    found.push({ what: `${optimizer} slot ${i}`, ours: await take(state[i]!), theirs: slot, magnitude: size });
  }
  freeBags(bags);
  gradient.dispose();
  return found;
}

/** The distance from a half to the next larger one is what they may be apart. */
function ofHalves(what: string, ours: Float32Array, theirs: Float32Array): Compared {
  const unit = (value: number): number => Math.max(2 ** -24, 2 ** (Math.floor(Math.log2(Math.abs(value))) - 10));
  return { what, ours, theirs, magnitude: Float64Array.from(theirs, (value) => 1.001e5 * unit(value)) };
}

function different({ what, ours, theirs, magnitude }: Compared, tolerance: number): string[] {
  const at = firstDifference(ours, theirs, magnitude, tolerance);
  return at < 0 ? [] : [`${what}[${at}]: ${ours[at]}, not ${theirs[at]}`];
}

/** Lookups, gradients and a step of a seed: of float32, every third one of float16, which is stepped too, or int8. */
export async function kernelDifferences(seed: number, onGpu: boolean, tolerance: number): Promise<string[]> {
  const storage = seed % 3 !== 2 ? null : seed % 2 === 0 ? 'float16' : 'int8';
  const ofPacked = storage === null ? null : packedCase(seed, storage);
  const example = ofPacked?.plain ?? bagCase(seed);
  const packed = ofPacked?.packed ?? null;
  const compared = [
    ...(await lookedUp(example, packed, onGpu)),
    ...(storage === 'int8' ? [] : await stepped(example, packed, seed, onGpu)),
  ];
  return compared.flatMap((each) => {
    return different(each, each.magnitude === 0 ? 0 : tolerance).map((text) => `${example.name}: ${text}`);
  });
}
