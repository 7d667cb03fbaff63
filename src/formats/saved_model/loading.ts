/** What `load` gives, and where it runs: the Node entry sets the loader. */
import type * as tf from '@tensorflow/tfjs';
import { RuntimeError, described } from '../../base/errors.js';
import { perProcess } from '../../base/per_process.js';

/** How a SavedModel is loaded. */
export interface LoadSavedModelOptions {
  /** Of the graph. Default ['serve']. */
  tags?: readonly string[] | undefined;
  /** Runs this signature; the result is then never a layers model. */
  signature?: string | undefined;
}

/** A signature's inputs or outputs. */
export type NamedShapes = Readonly<
  Record<string, { readonly dtype: string; readonly shape: readonly (number | null)[] }>
>;

/** A SavedModel that runs, without being layers. */
export interface RunnableSavedModel {
  /**
   * Runs the signature on tensors by name; gives tensors by name.
   *
   * @param inputs - Tensors by the names of the signature's inputs.
   * @returns Tensors by the names of its outputs; the caller disposes them.
   */
  predict(inputs: tf.NamedTensorMap): tf.NamedTensorMap;
  readonly signatures: Readonly<Record<string, { readonly inputs: NamedShapes; readonly outputs: NamedShapes }>>;
  dispose(): void;
}

export type Loader = (directory: unknown, options: unknown) => Promise<tf.LayersModel | RunnableSavedModel>;

const registered = (): { load: Loader | null } => perProcess('loader of SavedModels', () => ({ load: null }));

export function setLoader(load: Loader): void {
  registered().load = load;
}

export function loader(): Loader {
  const { load } = registered();
  if (load !== null) return load;
  const message = `savedModel.load() needs Node: import 'tfjs-embeddings/node'.`;
  throw new RuntimeError('savedModel.load', 'Node and its files', described('a runtime without them', message));
}
