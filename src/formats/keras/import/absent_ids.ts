/**
 * Ids that do not count, as Keras RS has to write them: weights of 0, which operations make of the ids. Where an
 * EmbedReduce is called in this way the layer of this package leaves such ids out by itself.
 *
 *     EmbedReduce(maximum(ids, 0), cast(ids >= 0) [* weights])     RaggedEmbedding; >= 1: with maskZero
 *     EmbedReduce(ids, cast(ids != 0) [* weights])                 Embedding with maskZero
 */
import { TensorRef, readCalls, refsOf, type CallJson } from './nodes.js';
import type { LayerJson } from './topology.js';

type Absent = NonNullable<LayerJson['absent']>;

type ByName = ReadonlyMap<string, LayerJson>;

const same = (a: unknown, b: unknown): boolean => {
  return a instanceof TensorRef && b instanceof TensorRef && JSON.stringify(a) === JSON.stringify(b);
};

/** The arguments of the one call of an operation that a tensor comes from; null for any other. */
function argumentsOf(layers: ByName, value: unknown, className: string): readonly unknown[] | null {
  if (!(value instanceof TensorRef)) return null;
  const layer = layers.get(value.layer);
  if (layer?.className !== className || layer.inboundNodes.length !== 1) return null;
  const [call] = readCalls(layer);
  return Object.keys(call!.kwargs).length === 0 ? call!.args : null;
}

interface Folded {
  readonly call: CallJson;
  readonly absent: Absent;
}

function presence(layers: ByName, value: unknown): { ids: unknown; absent: Absent } | null {
  const [ids, least] = argumentsOf(layers, value, 'GreaterEqual') ?? [];
  if (least === 0 || least === 1) return { ids, absent: least === 0 ? 'negative' : 'below 1' };
  const [all, zero] = argumentsOf(layers, value, 'NotEqual') ?? [];
  return zero === 0 ? { ids: all, absent: 'zero' } : null;
}

function fold(layers: ByName, { args, kwargs }: CallJson): Folded | null {
  const [rows, second] = args;
  const given = second ?? kwargs['weights'];
  const [first, factor] = argumentsOf(layers, given, 'Multiply') ?? [];
  const ones = first instanceof TensorRef ? first : given;
  const [mask] = argumentsOf(layers, ones, 'Cast') ?? [];
  const found = presence(layers, mask);
  if (found === null) return null;
  const [ids, least] = found.absent === 'zero' ? [rows, 0] : (argumentsOf(layers, rows, 'Maximum') ?? []);
  if (least !== 0 || !same(ids, found.ids)) return null;
  return {
    call: { args: factor === undefined ? [ids] : [ids, factor], kwargs: {}, tellsMask: true },
    absent: found.absent,
  };
}

/** A layer and its calls. */
export interface CalledLayer {
  readonly layer: LayerJson;
  readonly calls: readonly CallJson[];
}

/** Puts the layers that leave ids out in place of the operations. `kept`: tensors that are outputs of the model. */
export function foldAbsentIds(all: readonly CalledLayer[], kept: readonly TensorRef[]): CalledLayer[] {
  const layers = new Map(all.map(({ layer }) => [layer.name, layer]));
  let isFolded = false;
  const folded = all.map((each): CalledLayer => {
    if (each.layer.className !== 'EmbedReduce') return each;
    const calls = each.calls.map((call) => fold(layers, call));
    const [first] = calls;
    if (first === null || first === undefined || calls.some((call) => call?.absent !== first.absent)) return each;
    isFolded = true;
    return { layer: { ...each.layer, absent: first.absent }, calls: calls.map((call) => call!.call) };
  });
  return isFolded ? withoutUnused(folded, kept) : [...all];
}

const OPERATIONS = ['Cast', 'GreaterEqual', 'Maximum', 'Multiply', 'NotEqual'];

/** Drops operations that nothing takes any more, from the last to the first. */
function withoutUnused(all: readonly CalledLayer[], kept: readonly TensorRef[]): CalledLayer[] {
  for (let before = [...all]; ;) {
    const refs = before.flatMap(({ calls }) => calls.flatMap(({ args, kwargs }) => refsOf([args, kwargs])));
    const used = new Set([...refs, ...kept].map(({ layer }) => layer));
    const after = before.filter(({ layer }) => used.has(layer.name) || !OPERATIONS.includes(layer.className));
    if (after.length === before.length) return after;
    before = after;
  }
}
