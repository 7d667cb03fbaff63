/**
 * Runs the ops of this package in TensorFlow with hostile inputs and attributes, in a process of its own.
 *   node --import tsx tools/attack/tensorflow_ops_program.ts <seed> [calls]
 * TFJS_EMBEDDINGS_ATTACKED: path of another addon, which is then loaded in place of that of the build (other_addon.cjs).
 * Every call gives a result or an Error; tables and slots of an update that failed are as they were; a good lookup
 * between the calls is right. Prints a JSON line at the end.
 */
import { tmpdir } from 'node:os';
import * as tf from '@tensorflow/tfjs';
import { loadAddon } from '../../../src/backends/native/addon.js';
import { asNodeBackend, type OpAttribute } from '../../../src/backends/tensorflow/node_backend.js';
import * as emb from '../../../src/node.js';
import { CODECS } from '../../../src/codecs/codecs.js';
import { HYPER_FIELDS } from '../../../src/rules/hyper.js';
import {
  SLOT_NAMES,
  UPDATES as RULES_OF_ROWS,
  UPDATE_NAMES,
  couplesColumns,
  opNames,
} from '../../../src/rules/rules.js';
import { Random } from '../../../test/helpers/random.js';
import { HostileArrays } from '../hostile/arrays.js';
import { lossCall } from '../hostile/loss_calls.js';
import { rightCalls } from '../hostile/right_calls.js';
import { SERVER_TABLE_NAMES, serverTableCall } from '../hostile/server_table_calls.js';
import { spoiler } from '../hostile/spoiled_calls.js';
import { HostileTensors, WIDEST } from '../hostile/tensors.js';
import '@tensorflow/tfjs-node';

const random = new Random(Number(process.argv[2] ?? 1));
const calls = Number(process.argv[3] ?? 3000);

await tf.setBackend('tensorflow');
await emb.ready();
const backend = asNodeBackend(tf.backend());
const { TF_ATTR_FLOAT, TF_ATTR_INT, TF_ATTR_STRING, TF_ATTR_TYPE, TF_FLOAT, TF_INT32 } = backend.binding;
const tensors = new HostileTensors(random, backend);
const addon = loadAddon();
const counts = { calls: 0, returned: 0, threw: 0, graphs: 0, built: 0 };

/** An op call: what it takes, and how many of the inputs it writes. */
interface OpCall {
  readonly name: string;
  readonly inputs: tf.Tensor[];
  readonly attributes: OpAttribute[];
  readonly outputs: number;
  readonly written: number;
}

/** How many slots each update has, by its name in ops. */
const SLOTS: Readonly<Record<string, number>> = Object.fromEntries(
  UPDATE_NAMES.map((name) => [opNames('')[name], SLOT_NAMES[name].length]),
);
const NAMES = [
  'EmbeddingBag',
  'EmbeddingBagGrad',
  'EmbeddingBagWeightsGrad',
  'EmbeddingPresentIds',
  'EmbeddingPresentWeights',
  'EmbeddingSpreadWeights',
  'EmbeddingCheckWeights',
  'EmbeddingFeatureRows',
  'EmbeddingSegmentSum',
  'EmbeddingCopy',
  'EmbeddingNewTable',
  'EmbeddingWriteRows',
  ...SERVER_TABLE_NAMES,
  'EmbeddingShareTensors',
];
const UPDATES = Object.keys(SLOTS);

function bagAttributes(): OpAttribute[] {
  const norm = random.chance(0.8) ? random.pick([0, 0, 0.5]) : random.pick([-1, NaN, Infinity, 1e-45]);
  return [
    {
      name: 'combiner',
      type: TF_ATTR_STRING,
      value: random.chance(0.9) ? random.pick(['sum', 'mean', 'sqrtn']) : 'max',
    },
    { name: 'out_of_range', type: TF_ATTR_STRING, value: random.chance(0.95) ? random.pick(['error', 'zero']) : '' },
    { name: 'max_norm', type: TF_ATTR_FLOAT, value: norm },
  ];
}

/** A right call, small; or of a table without rows that is too wide for its bags. */
function rightCall(): OpCall {
  const isWide = random.chance(0.05);
  const [rows, dim] = isWide ? [0, WIDEST] : [random.whole(1, 9), random.pick([1, 2, 3, 5, 16, 17, 40, 130])];
  const batch = isWide ? random.pick([0, 2, 7]) : random.whole(0, 6);
  const splits = [0];
  for (let b = 0; b < batch; b++) splits.push(splits[b]! + (isWide ? 0 : random.whole(0, 5)));
  const nnz = splits[batch]!;
  const id = (): number => (random.chance(0.03) ? random.pick([-1, rows, 2 ** 31 - 1]) : random.whole(0, rows));
  const values = tensors.ints(Array.from({ length: nnz }, id));
  const weights = tensors.floats(random.chance(0.5) ? nnz : 0);
  const bags = [values, tensors.ints(splits), weights];
  const table = tensors.floats(rows, dim);
  const gradient = isWide && batch > 0 ? tensors.floats(2, 3) : tensors.floats(batch, dim);
  const name = random.chance(0.5) ? random.pick(NAMES) : random.pick(UPDATES);
  const attributes = bagAttributes();
  if (SERVER_TABLE_NAMES.includes(name)) return serverTableCall(name, random, tensors, [table, gradient]);
  switch (name) {
    case 'EmbeddingBag':
      return { name, inputs: [table, ...bags], attributes, outputs: 1, written: 0 };
    case 'EmbeddingBagGrad': {
      const value = random.chance(0.9) ? rows : random.pick([-1, 0, 2 ** 62, 2 ** 53]);
      attributes.push({ name: 'rows', type: TF_ATTR_INT, value });
      return { name, inputs: [gradient, ...bags, table], attributes, outputs: 2, written: 0 };
    }
    case 'EmbeddingBagWeightsGrad':
      return { name, inputs: [table, gradient, ...bags], attributes, outputs: 1, written: 0 };
    case 'EmbeddingPresentIds': {
      const skip = tensors.ints([random.whole(0, 2), random.whole(0, 2)]);
      return { name, inputs: [values, bags[1]!, skip], attributes: [], outputs: 2, written: 0 };
    }
    case 'EmbeddingPresentWeights':
    case 'EmbeddingSpreadWeights': {
      const skip = tensors.ints([random.whole(0, 2), random.whole(0, 2)]);
      const size = random.chance(0.5) ? values.size : random.whole(0, 9);
      return { name, inputs: [values, tensors.floats(size), skip], attributes: [], outputs: 1, written: 0 };
    }
    case 'EmbeddingSegmentSum': {
      const many = random.chance(0.9) ? values.size : random.whole(0, 9);
      const width = isWide ? 3 : dim;
      const rowsOfIds = tensors.floats(many * width).reshape([many, width]);
      const given = random.chance(0.95) ? rows : random.pick([-1, 0, 2 ** 31 - 1]);
      const attributes = [{ name: 'rows', type: backend.binding.TF_ATTR_INT, value: given }];
      return { name, inputs: [rowsOfIds, values], attributes, outputs: 1, written: 0 };
    }
    case 'EmbeddingCheckWeights':
      return { name, inputs: [table], attributes: [], outputs: 0, written: 0 };
    case 'EmbeddingFeatureRows': {
      const sizes = Array.from({ length: random.whole(0, 4) }, () =>
        random.chance(0.95) ? random.whole(1, 9) : random.pick([-1, 0, 2 ** 31 - 1]),
      );
      return { name, inputs: [values, tensors.ints(sizes)], attributes: [], outputs: 1, written: 0 };
    }
    case 'EmbeddingCopy':
      return { name, inputs: [table], attributes: [], outputs: 1, written: 0 };
    case 'EmbeddingNewTable': {
      const size = (): number =>
        random.chance(0.95) ? random.whole(0, 9) : random.pick([-1, -(2 ** 31), 2 ** 31 - 1]);
      const shape = Array.from({ length: random.whole(0, 4) }, size);
      return { name, inputs: [tensors.ints(shape)], attributes: [], outputs: 1, written: 0 };
    }
    case 'EmbeddingWriteRows': {
      const first = random.chance(0.9) ? random.whole(0, rows + 1) : random.pick([-1, -(2 ** 31), 2 ** 31 - 1]);
      const many =
        first >= 0 && first <= rows ? random.whole(0, rows - first + 1) * Math.min(dim, 200) : random.whole(0, 40);
      const row = tf.scalar(first, 'int32');
      return { name, inputs: [table, tensors.floats(many), row], attributes: [], outputs: 0, written: 1 };
    }
    case 'EmbeddingShareTensors': {
      const numbers = [random.whole(0, 3), random.whole(0, 3)];
      const sizes = [
        { name: 'N', type: TF_ATTR_INT, value: 2 },
        { name: 'T', type: TF_ATTR_TYPE, value: random.chance(0.9) ? TF_FLOAT : TF_INT32 },
      ];
      return { name, inputs: [tensors.ints(numbers), table, gradient], attributes: sizes, outputs: 0, written: 0 };
    }
    default: {
      const update = name;
      const slotDim = update === 'RowWiseAdagrad' ? 1 : dim;
      const slots = Array.from({ length: SLOTS[update]! }, () => tensors.floats(rows, slotDim));
      const inputs = [table, ...slots, gradient, ...bags, tensors.floats(HYPER_FIELDS.length)];
      return { name: `EmbeddingSparseApply${name}`, inputs, attributes, outputs: 0, written: 1 + slots.length };
    }
  }
}

/** A call for two tables, small; the second has two uses where it is stepped. */
function rightCallOfMany(): OpCall {
  const [rows, dim] = [random.whole(1, 9), random.pick([1, 3, 16])];
  const isStep = random.chance(0.6);
  const uses = isStep ? [0, 1, 1] : [0, 1];
  const id = (): number => (random.chance(0.03) ? random.pick([-1, rows, 2 ** 31 - 1]) : random.whole(0, rows));
  const ids = uses.map(() => Array.from({ length: random.whole(0, 9) }, id));
  const values = ids.map((each) => tensors.ints(each));
  const splits = ids.map(({ length }) => tensors.ints([0, random.chance(0.9) ? length : random.whole(-2, 12)]));
  const weights = ids.map(({ length }) => tensors.floats(random.chance(0.5) ? length : 0));
  const mode = [random.whole(0, 3), random.whole(0, 2)];
  const stray = (good: number): number => (random.chance(0.97) ? good : random.pick([-1, 2, 3, 2 ** 31 - 1]));
  const modes = tensors.ints(uses.flatMap((table) => [stray(table), ...mode.map(stray)]));
  const norms = tensors.floats(uses.length);
  const tables = [tensors.floats(rows, dim), tensors.floats(rows, dim)];
  const N = { name: 'N', type: TF_ATTR_INT, value: 2 };
  if (!isStep) {
    const inputs = [...tables, ...values, ...splits, ...weights, modes, norms];
    return { name: 'EmbeddingBags', inputs, attributes: [N], outputs: 2, written: 0 };
  }
  const name = random.pick(UPDATES);
  const slotDim = name === 'RowWiseAdagrad' ? 1 : dim;
  const slots = Array.from({ length: 2 * SLOTS[name]! }, () => tensors.floats(rows, slotDim));
  const gradients = uses.map(() => tensors.floats(1, dim));
  const hypers = [tensors.floats(HYPER_FIELDS.length), tensors.floats(HYPER_FIELDS.length)];
  const inputs = [...tables, ...slots, ...gradients, ...values, ...splits, ...weights, ...hypers, modes, norms];
  const attributes = [N, { name: 'U', type: TF_ATTR_INT, value: 3 }];
  return { name: `EmbeddingSparseApplyMany${name}`, inputs, attributes, outputs: 0, written: 2 + slots.length };
}

const DENSE_SLOTS = { Sgd: 0, Momentum: 1, Adagrad: 1, Adam: 2 } as const;
/** Those that move rows without ids, and so step whole variables too. */
const UPDATES_OF_VARIABLES = UPDATE_NAMES.filter(
  (name) => RULES_OF_ROWS[name].movesIdleRows === true && !couplesColumns(name),
);
const STEP_NAMES = [
  ...[
    'PackedBag',
    'PackedBagWeightsGrad',
    'PackedRowPenalty',
    'PackedRowPenaltyGrad',
    'TouchedRows',
    'SingleSplits',
    'TakeRows',
  ],
  ...['RowPenalty', 'RowPenaltyGrad', 'Dropout', 'RowDots', 'ScaledRows', 'DenseApply', 'DenseApplyRows'],
  ...['ReluGrad', 'PairDots', 'PairDotsGrad'],
];

/** A call of the ops on packed rows, or of those of a training step beside lookups. */
function rightCallOfStep(): OpCall {
  const [rows, dim] = [random.whole(1, 9), random.pick([1, 2, 3, 5, 16, 17, 40, 130])];
  const id = (): number => (random.chance(0.03) ? random.pick([-1, rows, 2 ** 31 - 1]) : random.whole(0, rows));
  const ids = tensors.ints(Array.from({ length: random.whole(0, 9) }, id));
  const table = tensors.floats(rows, dim);
  const name = random.pick(STEP_NAMES);
  const op = (inputs: tf.Tensor[], outputs: number, attributes: OpAttribute[] = [], written = 0): OpCall => ({
    name: `Embedding${name}`,
    inputs,
    attributes,
    outputs,
    written,
  });
  switch (name) {
    case 'PackedBag':
    case 'PackedBagWeightsGrad':
    case 'PackedRowPenalty':
    case 'PackedRowPenaltyGrad': {
      const codec = random.pick(CODECS.filter(({ isPlain }) => !isPlain));
      const words = Array.from({ length: rows * codec.words(dim) }, () => random.whole(-(2 ** 31), 2 ** 31));
      const packed = tensors.ints(words).reshape([rows, codec.words(dim)]);
      const bags = [ids, tensors.ints([0, ids.size]), tensors.floats(ids.size)];
      const form = [
        { name: 'storage', type: TF_ATTR_STRING, value: random.chance(0.95) ? codec.name : 'int4' },
        { name: 'dim', type: TF_ATTR_INT, value: random.chance(0.95) ? dim : random.pick([0, -1, 2 ** 62, dim + 4]) },
      ];
      if (name === 'PackedRowPenalty') return op([packed, ids, tensors.floats(2)], 1, form);
      if (name === 'PackedRowPenaltyGrad') return op([packed, ids, tensors.floats(2), tf.scalar(0.5)], 1, form);
      const attributes = [...bagAttributes(), ...form];
      if (name === 'PackedBag') return op([packed, ...bags], 1, attributes);
      return op([packed, tensors.floats(1, dim), ...bags], 1, attributes);
    }
    case 'TouchedRows': {
      const value = random.chance(0.9) ? rows : random.pick([-1, 0, 2 ** 62]);
      const sizes = [
        { name: 'N', type: TF_ATTR_INT, value: 2 },
        { name: 'rows', type: TF_ATTR_INT, value },
      ];
      return op([ids, tensors.ints([0, id()])], 1, sizes);
    }
    case 'SingleSplits':
      return op([ids], 1);
    case 'TakeRows': {
      const sizes = [
        { name: 'N', type: TF_ATTR_INT, value: 2 },
        { name: 'T', type: TF_ATTR_TYPE, value: TF_FLOAT },
      ];
      return op([ids, table, tensors.floats(rows, 2, 3)], 2, sizes);
    }
    case 'RowPenalty':
      return op([table, ids, tensors.floats(2)], 1);
    case 'RowPenaltyGrad':
      return op([table, ids, tensors.floats(2), tf.scalar(0.5)], 1);
    case 'RowDots':
      return op([table, tensors.floats(rows, dim)], 1);
    case 'ScaledRows':
      return op([tensors.floats(rows), table], 1);
    case 'ReluGrad':
      return op([tensors.floats(rows, dim), table], 1);
    case 'PairDots':
    case 'PairDotsGrad': {
      const size = [{ name: 'N', type: TF_ATTR_INT, value: 2 }];
      const features = [table, tensors.floats(rows, dim)];
      const flag = tf.scalar(random.whole(0, 2), 'int32');
      if (name === 'PairDots') return op([flag, ...features], 1, size);
      return op([flag, tensors.floats(rows, random.pick([1, 3])), ...features], 2, size);
    }
    case 'Dropout':
      return op([table, tf.scalar(random.pick([0, 0.5, 1, -1, NaN])), tensors.ints([1, 2])], 1);
    case 'DenseApplyRows': {
      const update = random.pick(UPDATES_OF_VARIABLES);
      const each = (): tf.Tensor[] => [tensors.floats(rows, dim), tensors.floats(dim)];
      const written = [...each(), ...SLOT_NAMES[update].flatMap(each)];
      const fields = tensors.floats(HYPER_FIELDS.length);
      const call = op([...written, ...each(), fields], 0, [{ name: 'N', type: TF_ATTR_INT, value: 2 }]);
      return { ...call, name: opNames('EmbeddingDenseApplyRows')[update], written: written.length };
    }
    default: {
      const optimizer = random.pick(Object.keys(DENSE_SLOTS) as (keyof typeof DENSE_SLOTS)[]);
      const shapes = [[rows, dim], [dim]];
      const each = (): tf.Tensor[] => shapes.map((shape) => tensors.floats(...shape));
      const powers = optimizer === 'Adam' ? [tf.scalar(0.9), tf.scalar(0.99)] : [];
      const written = [...each(), ...Array.from({ length: DENSE_SLOTS[optimizer] }, each).flat(), ...powers];
      const call = op([...written, ...each(), tensors.floats(8)], 0, [{ name: 'N', type: TF_ATTR_INT, value: 2 }]);
      return { ...call, name: `EmbeddingDenseApply${optimizer}`, written: written.length };
    }
  }
}

/** A call of the losses or the gradient of softmax: without rows or classes, of one row, of several tasks, too large. */
function rightCallOfLoss(): OpCall {
  const { inputs, name } = lossCall(random, tensors);
  return { name, inputs, attributes: [], outputs: 1, written: 0 };
}

/** Replaces some inputs and attributes; two inputs may come to share a buffer. */
function spoil({ inputs, attributes }: OpCall): void {
  for (let times = random.whole(0, 3); times > 0 && inputs.length > 0; times--) {
    const i = random.whole(0, inputs.length);
    inputs[i] = random.chance(0.5) ? tensors.sharing(random.pick(inputs), inputs[i]!) : tensors.anything();
  }
  // TensorFlow itself ends the process where an op, of its own too, gets an input too many.
  if (random.chance(0.03)) inputs.pop();
  if (random.chance(0.03)) attributes.splice(0, 1);
}

/** The bits of the inputs that a call writes. */
function bitsOf({ inputs, written }: OpCall): Buffer[] {
  return inputs.slice(0, written).map((tensor) => Buffer.from(tensor.dataSync<'float32'>().slice().buffer));
}

function readSharedTensors(): void {
  for (const number of [0, 1, 2]) {
    const target = new Float32Array(random.whole(0, 20));
    try {
      addon.readSharedTensor(number, random.pick([0, 1, 2 ** 53 - 1]), random.whole(0, 40), 1, target.length, target);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
    if (random.chance(0.7)) addon.releaseSharedTensor(number);
  }
}

const arrays = new HostileArrays(random);
const { buildGraph: graphCall } = rightCalls(random, arrays, spoiler(random, arrays), tmpdir());

/** Graphs of captured steps, of bytes and names that are right, hostile or neither; some are released at once. */
function buildGraphs(): void {
  for (let count = 0; count < 5; count++) {
    counts.graphs++;
    try {
      const number = addon.buildGraph(...(graphCall!() as Parameters<typeof addon.buildGraph>));
      counts.built++;
      if (random.chance(0.8)) addon.releaseGraph(number);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
    }
    addon.releaseGraph(random.whole(0, 9));
  }
}

const CALLS = [rightCall, rightCall, rightCallOfMany, rightCallOfStep, rightCallOfLoss];

/** Makes a call; what is wrong with it, or null. */
function attempt(): string | null {
  const call = random.pick(CALLS)();
  if (random.chance(0.7)) spoil(call);
  const isUpdate = call.written > 0 && call.inputs.slice(0, call.written).every(({ dtype }) => dtype === 'float32');
  // TensorFlow's own buffers: a tensor that is still an array of JavaScript would not show what was written.
  if (isUpdate)
    for (let i = 0; i < call.written; i++)
      call.inputs[i] = backend.executeSingleOutput('EmbeddingCopy', [], [call.inputs[i]!]);
  const before = isUpdate ? bitsOf(call) : [];
  counts.calls++;
  try {
    backend.executeMultipleOutputs(call.name, call.attributes, call.inputs, call.outputs);
    counts.returned++;
    return null;
  } catch (error) {
    if (!(error instanceof Error)) return `${call.name} threw ${String(error)}`;
    counts.threw++;
  }
  if (!isUpdate) return null;
  const changed = bitsOf(call).findIndex((bits, i) => !bits.equals(before[i]!));
  return changed === -1 ? null : `${call.name} threw, and wrote input ${changed}`;
}

/** A lookup that is right. */
function isSane(): boolean {
  const pooled = emb.ops.embeddingBag(tf.tensor2d([1, 2, 3, 4], [2, 2]), [0, 1, 1], [0, 2, 3], { combiner: 'sum' });
  return [4, 6, 3, 4].every((value, i) => pooled.dataSync()[i] === value);
}

const fallen: string[] = [];
tf.tidy(() => void isSane()); // the ops register with the first kernel
while (counts.calls < calls && fallen.length === 0) {
  tf.tidy(() => {
    const fault = attempt();
    if (fault !== null) fallen.push(`call ${counts.calls}: ${fault}`);
    if (counts.calls % 50 === 0) readSharedTensors();
    if (counts.calls % 20 === 0) buildGraphs();
    if (counts.calls % 100 === 0 && !isSane()) fallen.push(`call ${counts.calls}: a lookup is wrong afterwards`);
  });
}
console.log(JSON.stringify({ ...counts, fallen }));
