/**
 * What tfjs-converter knows when it calls a registered op and does not tell it: the run that the op belongs to, and the
 * model.
 */
import * as tf from '@tensorflow/tfjs';
import { perProcess } from '../../base/per_process.js';

interface Closer {
  clearAndClose(): void;
}

interface Internals {
  readonly node: {
    readonly name: string;
    readonly rawAttrs?: Readonly<Record<string, { s?: unknown; i?: unknown; type?: unknown } | undefined>>;
  };
  readonly context: {
    /** One object for the graph of a model and for its initializer. */
    readonly weightMap: object;
    /** Emptied when a run ends; the functions of a graph share it. */
    readonly tensorArrayMap: Record<string, Closer>;
  };
}

const internals = (node: tf.GraphNode): Internals => node as unknown as Internals;

let closers = 0;

const ends = (): WeakMap<object, Set<() => void>> => perProcess('ends of graph models', () => new WeakMap());

/** What stands for the model in a map: the same for all its runs. Its weights by the names of their nodes. */
export function modelOf(node: tf.GraphNode): Readonly<Record<string, readonly tf.Tensor[] | undefined>> {
  return internals(node).context.weightMap as Record<string, readonly tf.Tensor[]>;
}

/** Calls `close` when the model is disposed. */
export function atEndOfModel(node: tf.GraphNode, close: () => void): void {
  const model = modelOf(node);
  const known = ends().get(model) ?? new Set();
  ends().set(model, known.add(close));
}

/** Calls `close` when the run ends; tfjs-converter does not end a run that fails, which ends with the model. */
export function atEndOfRun(node: tf.GraphNode, close: () => void): void {
  const clearAndClose = (): void => {
    ends().get(modelOf(node))?.delete(clearAndClose);
    close();
  };
  internals(node).context.tensorArrayMap[`tfjs-embeddings ${closers++}`] = { clearAndClose };
  atEndOfModel(node, clearAndClose);
}

/** A model of these weights is disposed. */
export function endModel(weightMap: object): void {
  const all = ends().get(weightMap) ?? [];
  ends().delete(weightMap);
  for (const close of all) close();
}

export function nodeName(node: tf.GraphNode): string {
  return internals(node).node.name;
}

/** An attribute of text as it was written; `node.attrs` has it in lower case. */
export function textAttribute(node: tf.GraphNode, name: string): string {
  const text = internals(node).node.rawAttrs?.[name]?.s;
  if (Array.isArray(text)) return String.fromCharCode(...(text as number[]));
  return typeof text === 'string' ? tf.env().global.atob(text) : '';
}

/** An attribute of 64 bits, as it was written; `node.attrs` has the nearest number of a double. */
export function wholeAttribute(node: tf.GraphNode, name: string): bigint {
  return BigInt((internals(node).node.rawAttrs?.[name]?.i ?? 0) as string | number);
}

/** A type as TensorFlow calls it, such as `DT_HALF`; tfjs knows fewer. */
export function typeAttribute(node: tf.GraphNode, name: string): string {
  return String(internals(node).node.rawAttrs?.[name]?.type);
}

/** A shape of a node; undefined: of unknown rank, or not there. */
export function shapeAttribute(node: tf.GraphNode, name: string): number[] | undefined {
  return (node.attrs[name] as number[] | null | undefined) ?? undefined;
}
