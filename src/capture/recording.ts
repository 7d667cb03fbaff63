/** What a step did, as TensorFlow ops over named tensors. */
import * as tf from '@tensorflow/tfjs';
import type { Live } from '../backends/recordings.js';
import { inLayer } from './called_layers.js';
import type { OpAttribute } from '../backends/tensorflow/node_backend.js';

/** What is known of a tensor; a shape of null: its first size is another from step to step. */
export interface TensorKind {
  readonly type: number;
  readonly shape: readonly number[] | null;
}

/** An op that ran; it is called `node`, and its outputs `node`, `node:1`, ... */
export interface RecordedOp {
  readonly node: string;
  readonly name: string;
  readonly attributes: readonly OpAttribute[];
  readonly inputs: readonly string[];
  readonly inputTypes: readonly number[];
  readonly outputs: readonly TensorKind[];
  /** The layer that ran it, in words; undefined: none did. */
  readonly within?: string | undefined;
}

/** A tensor that every run is given anew; a shape of null: a data set of any number of rows. */
export type Feed = { readonly name: string } & TensorKind &
  (
    | { readonly kind: 'data'; readonly place: number }
    | { readonly kind: 'variable'; readonly variable: tf.Variable }
    | { readonly kind: 'live'; readonly live: number; readonly shape: readonly number[] }
  );

/** A tensor that is the same in every step. */
export interface Constant {
  readonly name: string;
  readonly type: number;
  readonly shape: readonly number[];
  readonly values: ArrayBufferView;
  /** The layer that took it first, in words; undefined: none did. */
  readonly within?: string | undefined;
}

/** A variable that the step gave another tensor. */
export interface Rebound {
  readonly variable: tf.Variable;
  readonly place: string;
}

export interface Recording {
  readonly ops: readonly RecordedOp[];
  readonly feeds: readonly Feed[];
  readonly constants: readonly Constant[];
  /** Numbers that each step makes anew, in their order; feeds name them by their place here. */
  readonly made: readonly Live[];
  readonly rebound: readonly Rebound[];
  /** Optimizers that took a step, in their order. */
  readonly stepped: readonly tf.Optimizer[];
  /** The places of the results. */
  readonly results: readonly string[];
  /** Why the step cannot be repeated as it was; null: it can. */
  readonly problem: string | null;
  /** Whether other steps may run the same ops: one that found no ids at all may have left some out. */
  readonly isTypical: boolean;
  /** Whether it made variables, such as the slots of an optimizer, which are there in the next one. */
  readonly makesVariables: boolean;
}

/** Whether a table or a slot has got more rows since. */
export function isOutgrown({ feeds }: Recording): boolean {
  return feeds.some(
    (feed) => feed.kind === 'variable' && feed.variable.size !== tf.util.sizeFromShape([...feed.shape!]),
  );
}

/** Whether an op writes into its inputs. */
export function isInPlace(op: RecordedOp): boolean {
  return /^Embedding(Sparse|Packed|Dense)Apply/.test(op.name);
}

/** How many of the inputs an op writes into: they are the first. */
export function writtenInputs(op: RecordedOp): readonly string[] {
  const count = (op.attributes.find(({ name }) => name === 'N')?.value ?? 1) as number;
  if (op.name.startsWith('EmbeddingDenseApply')) {
    // variables, slots and powers; after them one gradient per variable and the numbers.
    return op.inputs.slice(0, op.inputs.length - count - 1);
  }
  if (op.name.startsWith('EmbeddingSparseApplyMany')) {
    // tables and slots; after them four inputs per use, numbers for each table, and two for all.
    const uses = op.attributes.find(({ name }) => name === 'U')!.value as number;
    return op.inputs.slice(0, op.inputs.length - 2 - 4 * uses - count);
  }
  // table and slots; after them gradient, values, row splits, weights and the numbers.
  return op.inputs.slice(0, op.inputs.length - 5);
}

function sameValues(a: ArrayBufferView, b: ArrayBufferView): boolean {
  return Buffer.compare(bytesOf(a), bytesOf(b)) === 0;
}

/** The memory of an array. */
export function bytesOf(values: ArrayBufferView): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

function sameFeed(a: Feed, b: Feed | undefined): boolean {
  if (b === undefined || a.type !== b.type || a.kind !== b.kind) return false;
  return a.shape?.join() === b.shape?.join();
}

/** Whether two steps take the same, in whatever order they come to it. */
function sameFeeds(first: readonly Feed[], second: readonly Feed[]): boolean {
  const named = new Map(second.map((feed) => [feed.name, feed]));
  return first.length === second.length && first.every((feed) => sameFeed(feed, named.get(feed.name)));
}

/** Functions of users whose numbers a step takes must be the same: one that each call makes may read what that call has. */
function sameMakers(first: readonly Live[], second: readonly Live[]): boolean {
  return first.length === second.length && first.every(({ given }, i) => given === second[i]!.given);
}

/** What the second of two recordings has that the first has not, in words; null: they agree. */
export function difference(first: Recording, second: Recording): string | null {
  if (second.makesVariables) return 'it makes variables';
  if (!sameMakers(first.made, second.made)) {
    return 'emb.live is given another function from step to step: make it once, outside of the step';
  }
  const opText = ({ name, attributes, inputs }: RecordedOp): string =>
    `${name} ${JSON.stringify(attributes)} ${inputs.join()}`;
  const other = second.ops.find((op, i) => first.ops[i] === undefined || opText(op) !== opText(first.ops[i]));
  if (other !== undefined || first.ops.length !== second.ops.length) {
    return `it runs other ops from step to step${other === undefined ? '' : ` (${other.name}${inLayer(other.within)})`}`;
  }
  const changed = second.constants.find((constant, i) => {
    const before = first.constants[i];
    return (
      before === undefined ||
      before.shape.join() !== constant.shape.join() ||
      before.type !== constant.type ||
      !sameValues(before.values, constant.values)
    );
  });
  if (changed !== undefined || first.constants.length !== second.constants.length) {
    const reader = second.ops.find(({ inputs }) => changed !== undefined && inputs.includes(changed.name));
    const where = inLayer(changed?.within ?? reader?.within);
    return `JavaScript gives ${reader?.name ?? 'an op'} other numbers from step to step${where}`;
  }
  if (!sameFeeds(first.feeds, second.feeds)) return 'it reads other variables from step to step';
  const reboundText = ({ rebound }: Recording): string =>
    rebound
      .map(({ variable, place }) => `${variable.id} ${place}`)
      .sort()
      .join();
  if (reboundText(first) !== reboundText(second)) return 'it writes other variables from step to step';
  if (first.stepped.length !== second.stepped.length || first.stepped.some((each, i) => each !== second.stepped[i])) {
    return 'other optimizers take a step from step to step';
  }
  return first.results.join() === second.results.join() ? null : 'its results come from other ops from step to step';
}
