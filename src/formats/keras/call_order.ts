/** The order in which Keras 3 runs the calls of a graph: what a call does to the masks of its inputs, later ones see. */
import type { TensorRef } from './import/nodes.js';
import { refsOf, type CallJson } from './import/nodes.js';

interface Call extends CallJson {
  readonly layer: string;
  readonly node: number;
}

const keyOf = ({ layer, node }: { readonly layer: string; readonly node: number }): string => `${node}/${layer}`;

/** The tensors that a call takes, as Keras lists them: what has no name, then what has, by name. */
function inputsOf({ args, kwargs }: Call): TensorRef[] {
  const named = Object.keys(kwargs).sort();
  return refsOf([args, ...named.map((name) => kwargs[name])]);
}

/** Each call after those whose tensors it takes, as one comes by them from the outputs. */
function fromOutputs<C extends Call>(byKey: ReadonlyMap<string, C>, outputs: readonly TensorRef[]): C[] {
  const [finished, order] = [new Set<string>(), [] as C[]];
  const open: { readonly key: string; readonly isDone: boolean }[] = [];
  const push = (refs: readonly TensorRef[]): void => {
    for (const ref of [...refs].reverse()) open.push({ key: keyOf(ref), isDone: false });
  };
  push(outputs);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { key, isDone } = next;
    const call = byKey.get(key);
    if (call === undefined || finished.has(key)) continue;
    if (isDone) {
      finished.add(key);
      order.push(call);
      continue;
    }
    open.push({ key, isDone: true });
    push(inputsOf(call));
  }
  return order;
}

/**
 * The calls in the order of Keras 3: those first that are furthest from the outputs. All calls of a layer that is shared
 * are as far as the furthest one that was seen before. Calls that no output needs come last.
 */
export function inKerasOrder<C extends Call>(calls: readonly C[], outputs: readonly TensorRef[]): C[] {
  const byKey = new Map(calls.map((call) => [keyOf(call), call]));
  const depths = new Map<C, number>();
  const ofLayers = new Map<string, number>();
  for (const call of fromOutputs(byKey, outputs).reverse()) {
    const depth = Math.max(depths.get(call) ?? 0, ofLayers.get(call.layer) ?? 0);
    ofLayers.set(call.layer, depth);
    depths.set(call, depth);
    for (const ref of inputsOf(call)) {
      const before = byKey.get(keyOf(ref));
      if (before !== undefined) depths.set(before, Math.max(depth + 1, depths.get(before) ?? 0));
    }
  }
  const needed = [...depths].sort(([, a], [, b]) => b - a).map(([call]) => call);
  return [...needed, ...calls.filter((call) => !depths.has(call))];
}
