/** Tensors of a step whose sizes its numbers decide: JavaScript may have taken the size of one step for that of all. */
import { graphDefOf, type AttributeKinds } from './graph_def.js';
import { kindsOf, outputOf } from './places.js';
import type { RecordedOp, Recording } from './recording.js';
import { lines, type GraphAddon } from './step_graph.js';

/** Bytes of a constant that may tell a size, such as the ends of a range. */
const MOST_BYTES = 4096;
/** Ops of this package, of which the recorder knows the sizes. */
const OWN = /^Embedding|^RaggedGather$/;

/**
 * These ops alone, all in use: what other ops gave is fed, with the shape that it had, and so are constants that are too
 * large to tell sizes.
 */
function alone(recording: Recording, ops: readonly RecordedOp[]): Recording {
  const known = kindsOf(recording);
  const constants = recording.constants.filter(({ values }) => values.byteLength <= MOST_BYTES);
  const results = ops.flatMap(({ node, outputs }) => outputs.map((_, i) => outputOf(node, i)));
  const there = new Set([...constants.map(({ name }) => name), ...results]);
  const fed = (place: string): string => (there.has(place) ? place : `fed_${place.replace(':', '_')}`);
  const places = [...new Set(ops.flatMap(({ inputs }) => inputs))].filter((place) => !there.has(place));
  const feeds = places.map((place, i) => ({ ...known.get(place)!, name: fed(place), kind: 'data' as const, place: i }));
  return {
    ...recording,
    ops: ops.map((op) => ({ ...op, inputs: op.inputs.map(fed) })),
    feeds,
    constants,
    results,
    rebound: [],
  };
}

/** Why the sizes that a recording has may be others in other steps; null: the sizes of what it is given tell them. */
export function whyUnsized(recording: Recording, addon: GraphAddon, kinds: AttributeKinds): string | null {
  const known = kindsOf(recording);
  // What is made of an open size was looked at when it was recorded.
  const isSized = ({ name, inputs }: RecordedOp): boolean =>
    !OWN.test(name) && inputs.every((place) => known.get(place)!.shape !== null);
  const ops = recording.ops.filter(isSized);
  const places = ops.flatMap(({ name, node, outputs }) => outputs.map((_, i) => ({ name, place: `${node}:${i}` })));
  if (places.length === 0) return null;
  try {
    const { definition } = graphDefOf(alone(recording, ops), kinds);
    const at = addon.unsizedPlace(definition, lines(places.map(({ place }) => place)));
    return at < 0 ? null : `the numbers of a call decide the size of what ${places[at]!.name} gives`;
  } catch (error) {
    return `TensorFlow does not tell the sizes of its ops: ${(error as Error).message}`;
  }
}
