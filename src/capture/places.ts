/** Places of a recorded step: which op makes one, who takes it, what is known of it. */
import type { RecordedOp, Recording, TensorKind } from './recording.js';

/** The place of an output of a node. */
export function outputOf(node: string, output: number): string {
  return output === 0 ? node : `${node}:${output}`;
}

/** The node that has an output. */
export function nodeOf(place: string): string {
  return place.replace(/:\d+$/, '');
}

/** Every place of a recording, and what its tensors are like. */
export function kindsOf({ feeds, constants, ops }: Recording): Map<string, TensorKind> {
  const kinds = new Map<string, TensorKind>();
  for (const each of [...feeds, ...constants]) kinds.set(each.name, each);
  for (const { node, outputs } of ops) outputs.forEach((kind, i) => kinds.set(outputOf(node, i), kind));
  return kinds;
}

/** The op that makes a place. */
export function makersOf(ops: readonly RecordedOp[]): Map<string, RecordedOp> {
  return new Map(ops.flatMap((op) => op.outputs.map((_, i) => [outputOf(op.node, i), op])));
}

/** How often a place is taken: by ops, as a result, or as the new tensor of a variable. */
export function usesOf({ ops, results, rebound }: Recording): Map<string, number> {
  const uses = new Map<string, number>();
  const taken = [...ops.flatMap(({ inputs }) => inputs), ...results, ...rebound.map(({ place }) => place)];
  for (const place of taken) uses.set(place, (uses.get(place) ?? 0) + 1);
  return uses;
}
