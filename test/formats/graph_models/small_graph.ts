/** Graph models written by hand. */
import * as tf from '@tensorflow/tfjs';

export interface Node {
  readonly name: string;
  readonly op: string;
  readonly input?: readonly string[];
  readonly attr?: object;
}

export const INT32 = { type: 'DT_INT32' };
export const FLOAT = { type: 'DT_FLOAT' };
export const text = (value: string): object => ({ s: btoa(value) });

/** An input of the graph. */
export function placeholder(name: string, dtype: object): Node {
  return { name, op: 'Placeholder', attr: { dtype } };
}

/** A graph model, without weights unless `extra` brings them. */
export function loadGraph(node: readonly Node[], topology: object = {}, extra: object = {}): Promise<tf.GraphModel> {
  const artifacts = {
    modelTopology: { node, versions: { producer: 1, minConsumer: 1 }, ...topology },
    weightSpecs: [],
    weightData: new ArrayBuffer(0),
    ...extra,
  };
  return tf.loadGraphModel({ load: () => Promise.resolve(artifacts) } as unknown as tf.io.IOHandler);
}

/** Runs a graph once and frees what it was fed. */
export function execute(model: tf.GraphModel, feeds: tf.NamedTensorMap, ...outputs: string[]): number[][] {
  try {
    const results = model.execute(feeds, outputs);
    const all = Array.isArray(results) ? results : [results];
    const numbers = all.map((tensor) => Array.from(tensor.dataSync()));
    tf.dispose(all);
    return numbers;
  } finally {
    tf.dispose(feeds);
  }
}
