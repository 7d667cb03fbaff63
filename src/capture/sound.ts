/** What must hold of a recording so that running its ops in any order that their inputs allow gives the same. */
import * as tf from '@tensorflow/tfjs';
import { asNodeBackend } from '../backends/tensorflow/node_backend.js';
import { copies } from '../backends/tensorflow/ownership.js';
import { variableText } from '../backends/table.js';
import { kindsOf, nodeOf } from './places.js';
import { isInPlace, writtenInputs, type Constant, type RecordedOp, type Recording } from './recording.js';

const FLOAT = 1;
const INT = 3;
const BOOL = 10;

/** Beyond this a graph holds too much that never changes. */
const MOST_CONSTANT_BYTES = 2 ** 28;

/** Ops whose results lie in memory of their own, beside those that never share a table's. */
const FRESH_OPS = new Set([
  ...['_FusedMatMul', 'BiasAdd', 'Softmax', 'LogSoftmax', 'FusedBatchNorm', 'OneHot'],
  ...['Conv2D', 'Conv2DBackpropInput', 'Conv2DBackpropFilter', 'Conv3D', 'Conv3DBackpropInputV2'],
  ...['DepthwiseConv2dNative', 'DepthwiseConv2dNativeBackpropInput', 'DepthwiseConv2dNativeBackpropFilter'],
]);

function givesFresh({ name }: RecordedOp): boolean {
  return copies(name) || FRESH_OPS.has(name);
}

/** Places whose tensors may lie in the memory of one of these places. */
function sharingPlaces(ops: readonly RecordedOp[], places: Iterable<string>): (place: string) => boolean {
  const sharing = new Set(places);
  for (const op of ops) {
    if (!givesFresh(op) && op.inputs.some((place) => sharing.has(nodeOf(place)))) sharing.add(op.node);
  }
  return (place) => sharing.has(nodeOf(place));
}

/** Constants, and what TensorFlow makes constants of: ops on nothing else. */
function constantPlaces(ops: readonly RecordedOp[], constants: readonly Constant[]): ReadonlySet<string> {
  const found = new Set(constants.map(({ name }) => name));
  for (const { node, inputs } of ops) if (inputs.every((place) => found.has(nodeOf(place)))) found.add(node);
  return found;
}

/**
 * The recording, in which what it gives lies in memory of its own where it may lie in that of what is fed, which the next
 * step writes, or of a constant, which may be fed then.
 */
export function withOwnMemory(recording: Recording): Recording {
  const { ops, feeds, constants, results, rebound } = recording;
  const isSharing = sharingPlaces(ops, [...feeds.map(({ name }) => name), ...constantPlaces(ops, constants)]);
  const kinds = kindsOf(recording);
  const copies = new Map<string, RecordedOp>();
  const own = (place: string): string => {
    const { type, shape } = kinds.get(place)!;
    if (!isSharing(place) || (type !== FLOAT && type !== INT)) return place;
    const node = `copy_${place.replace(':', '_')}`;
    const attributes = [{ name: 'T', type: asNodeBackend(tf.backend()).binding.TF_ATTR_TYPE, value: type }];
    const outputs = [{ type, shape }];
    copies.set(node, { node, name: 'EmbeddingCopy', attributes, inputs: [place], inputTypes: [type], outputs });
    return node;
  };
  const ownResults = results.map(own);
  const ownRebound = rebound.map((each) => ({ ...each, place: own(each.place) }));
  return { ...recording, results: ownResults, rebound: ownRebound, ops: [...ops, ...copies.values()] };
}

/** Why the recorded step cannot be run as a graph; null: it can. */
export function whyUnsound(recording: Recording): string | null {
  const { ops, feeds, constants, rebound, results } = recording;
  const stranger = feeds.find(({ type }) => type !== FLOAT && type !== INT);
  if (stranger !== undefined) return 'it takes tensors that are neither float32 nor int32';
  const kinds = kindsOf(recording);
  const isGiven = (type: number | undefined): boolean => type === FLOAT || type === INT || type === BOOL;
  if (results.some((place) => !isGiven(kinds.get(place)?.type)))
    return 'its results are not all numbers or truth values';
  const bytes = constants.reduce((sum, { values }) => sum + values.byteLength, 0);
  if (bytes > MOST_CONSTANT_BYTES) return 'its ops take more than 256 MiB of numbers that never change';
  const inPlace = ops.filter(isInPlace);
  const variables = new Set(feeds.filter(({ kind }) => kind === 'variable').map(({ name }) => name));
  const written = new Set<string>();
  for (const op of inPlace) {
    for (const place of writtenInputs(op)) {
      if (!variables.has(place)) return `${op.name} steps what is no variable`;
      if (written.has(place)) return 'it steps a variable twice';
      written.add(place);
    }
  }
  const isSharing = sharingPlaces(ops, written);
  for (const op of inPlace) {
    const read = op.inputs.slice(writtenInputs(op).length);
    if (read.some(isSharing)) return `${op.name} takes a tensor that may lie in the memory of a variable`;
  }
  const isFed = (place: string): boolean => feeds.some(({ name }) => name === place);
  if (results.some((place) => isSharing(place) || isFed(place)) || rebound.some(({ place }) => isSharing(place))) {
    return 'a result may lie in the memory of a variable or of an input';
  }
  const fed = rebound.find(({ variable }) =>
    feeds.some((f) => f.kind === 'variable' && f.variable === variable && written.has(f.name)),
  );
  return fed === undefined ? null : `variable ${variableText(fed.variable)} is stepped and given another tensor`;
}
