/** All layers of Keras that are told by a description. */
import type { KerasLayer, LayerKind } from './keras_layer.js';
import { layerClass } from './keras_layer.js';
import { CONVOLUTION_KINDS } from './convolutions.js';
import { EINSUM_DENSE } from './einsum_dense.js';
import { ELEMENTWISE_KINDS } from './elementwise_layers.js';
import { REVERSIBLE_EMBEDDING } from './reversible_embedding.js';
import { SHAPE_KINDS } from './shape_layers.js';

const KINDS: readonly LayerKind[] = [
  ...SHAPE_KINDS,
  ...ELEMENTWISE_KINDS,
  ...CONVOLUTION_KINDS,
  EINSUM_DENSE,
  REVERSIBLE_EMBEDDING,
];

/** By the name of the class in Keras. */
export const KERAS_KINDS: ReadonlyMap<string, LayerKind> = new Map(KINDS.map((kind) => [kind.className, kind]));

/** The classes, to be registered. */
export const KERAS_LAYERS: readonly (typeof KerasLayer)[] = KINDS.map(layerClass);

/** The kind that makes a layer of Keras of its config; null where tfjs has one that computes the same, or none. */
export function kindFor(className: string, config: Readonly<Record<string, unknown>>): LayerKind | null {
  const kind = KERAS_KINDS.get(className);
  return kind === undefined || kind.isNeeded?.(config) === false ? null : kind;
}
