/** What `adapt()` of Keras's preprocessing layers found, as fields of their configs, which then make the same layers. */
import { described } from '../../../base/errors.js';
import { boundariesIn } from '../../../preprocessing/quantiles.js';
import { layerError } from '../layer_error.js';
import type { Json, LayerJson } from '../import/topology.js';

/** Layers with a vocabulary. */
const LOOKUPS: ReadonlySet<string> = new Set(['IntegerLookup', 'StringLookup', 'TextVectorization']);
/** Layers that learn, other than by training. */
export const LEARNING_CLASSES: ReadonlySet<string> = new Set([...LOOKUPS, 'Discretization', 'Normalization']);

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

/** Whether a layer has a vocabulary that its config does not hold. */
export function lacksVocabulary({ className, config }: LayerJson): boolean {
  return LOOKUPS.has(className) && isAbsent(config['vocabulary']);
}

/** Whether a Discretization has found boundaries that its config does not hold. */
export function lacksBoundaries({ className, config }: LayerJson): boolean {
  return className === 'Discretization' && isAbsent(config['bin_boundaries']) && !isAbsent(config['num_bins']);
}

/** Ids before those of the tokens: of the mask and of unknown tokens. TextVectorization has one of each. */
export function specialTokens({ className, config }: LayerJson): { readonly mask: number; readonly unknown: number } {
  const isIds = (config['output_mode'] ?? 'int') === 'int';
  if (className === 'TextVectorization') return { mask: isIds ? 1 : 0, unknown: 1 };
  return { mask: isIds && !isAbsent(config['mask_token']) ? 1 : 0, unknown: Number(config['num_oov_indices'] ?? 1) };
}

export function weighs({ config }: LayerJson): boolean {
  return config['output_mode'] === 'tf_idf';
}

/**
 * The fields of a lookup. `tokens`: those that were found, unknown ones in front where there are factors; `factors`: as
 * Keras keeps them, one for each token, with zeros behind where vectors are padded.
 */
export function vocabularyFields(
  layer: LayerJson,
  tokens: readonly (number | string)[],
  factors: readonly number[] | null,
): Json {
  if (!weighs(layer) || factors === null) return { vocabulary: tokens };
  const rest = factors.slice(tokens.length);
  if (factors.length >= tokens.length && rest.every((each) => each === 0)) {
    return { vocabulary: tokens, idf_weights: factors.slice(0, tokens.length) };
  }
  const received = described(`${factors.length} for ${tokens.length} tokens`);
  throw layerError(layer, 'idf_weights', 'a number for each token of the vocabulary', received);
}

/** The boundaries of a Discretization of Keras 2, which keeps what it saw: values, then how many each stands for. */
export function boundariesOf(layer: LayerJson, shape: readonly number[], summary: Float32Array): number[] {
  const bins = layer.config['num_bins'];
  const [rows, count = 0] = shape;
  const isSummary = shape.length === 2 && rows === 2 && count > 0;
  if (!isSummary || typeof bins !== 'number' || !Number.isInteger(bins) || bins < 1) {
    const received = described(`${String(bins)} bins and a summary of shape [${shape.join(', ')}]`);
    throw layerError(layer, 'bin_boundaries', 'what adapt() saw of the numbers', received);
  }
  return boundariesIn({ values: summary.slice(0, count), weights: summary.slice(count) }, bins);
}
