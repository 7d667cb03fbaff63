/** Configs of Keras whose layers are made of this package: every field that Keras writes, and what is refused by name. */
import type * as tf from '@tensorflow/tfjs';
import 'tfjs-embeddings/node';
import { makeOwnLayer } from '../../../../src/formats/keras/import/own_layers.js';
import type { Reading } from '../../../../src/formats/keras/import/stock_config.js';
import type { LayerJson } from '../../../../src/formats/keras/import/topology.js';
import { expectError } from '../../../helpers/errors.js';

type Json = Record<string, unknown>;

const READING: Reading = { version: 3, strict: true, sizes: null, customObjects: new Map() };

function layerJson(className: string, config: Json, more: Json = {}): LayerJson {
  const known = { name: 'here', className, config: { name: 'here', ...config }, inboundNodes: [] };
  return { ...known, ...more } as unknown as LayerJson;
}

function made(className: string, config: Json, reading: Partial<Reading> = {}, more: Json = {}): tf.layers.Layer {
  return makeOwnLayer(layerJson(className, config, more), { ...READING, ...reading });
}

/** What each layer may have. */
const ANY: Json = { trainable: true, dtype: 'float32', build_config: { input_shape: [null, 3] }, autocast: true };
const IDS: Json = { ...ANY, dtype: 'int32' };
const GLOROT = { class_name: 'GlorotUniform', config: { seed: null } };
const L2 = { class_name: 'L2', config: { l2: 0.5 } };
const HEADS: Json = {
  ...{ num_heads: 2, key_dim: 3, value_dim: 4, dropout: 0.1, use_bias: false, use_gate: true, output_shape: [5] },
  ...{ attention_axes: [1], sliding_window: 2, kernel_initializer: GLOROT, bias_initializer: GLOROT },
  ...{ kernel_regularizer: L2, bias_regularizer: L2, seed: 1, flash_attention: true, query_shape: [null, 2, 3] },
  ...{ key_shape: [null, 2, 3], value_shape: [null, 2, 3], softmax_robust_masking: false },
};
const SCORES: Json = { use_scale: true, dropout: 0.2, seed: 1, flash_attention: true };
const LOOKUP: Json = {
  ...{ max_tokens: 9, num_oov_indices: 2, mask_token: 0, oov_token: -1, vocabulary: [5, 6], vocabulary_dtype: 'int64' },
  ...{ vocabulary_size: 5, has_input_vocabulary: true, invert: false, output_mode: 'tf_idf', idf_weights: [1, 2] },
  ...{ pad_to_max_tokens: true, oov_method: 'floormod', salt: null, sparse: false },
};

/** Everything that Keras writes of a class, and some of what the layer then says of itself. */
const WHOLE: readonly (readonly [className: string, config: Json, is: string, has: Json])[] = [
  [
    'Embedding',
    {
      ...{ ...IDS, input_dim: 5, output_dim: 3, embeddings_initializer: 'uniform', embeddings_regularizer: L2 },
      ...{ embeddings_constraint: 'UnitNorm', mask_zero: true, input_length: 2, sparse: false, combiner: 'sum' },
      use_custom_kernel: true,
    },
    'Embedding',
    { inputDim: 5, outputDim: 3, combiner: 'sum', maskZero: true },
  ],
  ['EmbedReduce', { ...IDS, input_dim: 5, output_dim: 3 }, 'Embedding', { combiner: 'mean' }],
  ['EmbedReduce', { ...IDS, input_dim: 5, output_dim: 3, combiner: 'sqrtn' }, 'Embedding', { combiner: 'sqrtn' }],
  [
    'MultiHeadAttention',
    { ...ANY, ...HEADS },
    'MultiHeadAttention',
    { numHeads: 2, keyDim: 3, valueDim: 4, dropout: 0.1, useBias: false, useGate: true, outputShape: [5] },
  ],
  ['Attention', { ...ANY, ...SCORES, score_mode: 'concat' }, 'Attention', { scoreMode: 'concat', dropout: 0.2 }],
  ['AdditiveAttention', { ...ANY, ...SCORES, score_mode: 'dot' }, 'AdditiveAttention', { dropout: 0.2 }],
  [
    'GlobalAveragePooling1D',
    { ...ANY, data_format: 'channels_first', keepdims: true },
    'GlobalAveragePooling1D',
    { dataFormat: 'channelsFirst', keepdims: true },
  ],
  ['UnitNormalization', { ...ANY, axis: [1] }, 'UnitNormalization', { axis: [1] }],
  [
    'Normalization',
    { ...ANY, axis: null, mean: 2, variance: 3, invert: true },
    'Normalization',
    { mean: 2, variance: 3, invert: true },
  ],
  [
    'CategoryEncoding',
    { ...ANY, num_tokens: 4, output_mode: 'count', sparse: false },
    'CategoryEncoding',
    { numTokens: 4, outputMode: 'count' },
  ],
  [
    'Discretization',
    { ...ANY, bin_boundaries: [1, 2], num_bins: null, epsilon: 0.01, output_mode: 'one_hot', sparse: false },
    'Discretization',
    { binBoundaries: [1, 2], outputMode: 'oneHot' },
  ],
  ['IntegerLookup', { ...IDS, ...LOOKUP, output_mode: 'multi_hot', idf_weights: null, mask_token: null }, 'VocabularyLookup', { numOovIndices: 2, maxTokens: 9 }], // prettier-ignore
  [
    'Hashing',
    { ...IDS, num_bins: 7, mask_value: 3, salt: [1, 2], output_mode: 'int', sparse: false },
    'Hashing',
    { numBins: 7, maskValue: 3 },
  ],
  ['ConcatOneHotEmbedding', { ...IDS, feature_sizes: [3, 4], embedding_width: 2 }, 'ConcatOneHotEmbedding', { featureSizes: [3, 4], embeddingWidth: 2 }], // prettier-ignore
  ['DotInteraction', { ...ANY, self_interaction: true, skip_gather: true }, 'DotInteraction', { selfInteraction: true, skipGather: true }], // prettier-ignore
  [
    'FeatureCross',
    {
      ...{ ...ANY, projection_dim: 2, diag_scale: 0.5, use_bias: false, pre_activation: 'hard_sigmoid' },
      ...{ kernel_initializer: GLOROT, bias_initializer: GLOROT, kernel_regularizer: L2, bias_regularizer: L2 },
    },
    'FeatureCross',
    { projectionDim: 2, diagScale: 0.5, useBias: false },
  ],
];

describe('layers of Keras that are made of this package', () => {
  for (const [className, config, is, has] of WHOLE) {
    it(`have all that Keras writes of a ${className}`, () => {
      const layer = made(className, config);
      expect(layer.name).toBe('here');
      expect(layer.getClassName()).toBe(`TfjsEmbeddings>${is}`);
      expect(layer.getConfig()).toEqual(jasmine.objectContaining(has as never));
      expectError(() => made(className, { ...config, unknown: 1 }), 'ValueError', 'here.unknown', 'the field unknown');
      expect(made(className, { ...config, unknown: null }).name).toBe('here');
    });
  }

  const one = { input_dim: 5, output_dim: 3 };
  for (const [className, config, field, values] of [
    ['MultiHeadAttention', HEADS, 'activity_regularizer', [L2]],
    ['MultiHeadAttention', HEADS, 'kernel_constraint', ['NonNeg']],
    ['MultiHeadAttention', HEADS, 'bias_constraint', ['NonNeg']],
    ['MultiHeadAttention', HEADS, 'softmax_robust_masking', [true]],
    ['Attention', SCORES, 'activity_regularizer', [L2]],
    ['AdditiveAttention', SCORES, 'activity_regularizer', [L2]],
    ['CategoryEncoding', { num_tokens: 3 }, 'sparse', [true]],
    ['Discretization', { bin_boundaries: [1] }, 'sparse', [true]],
    ['Discretization', {}, 'bin_boundaries', [undefined, null, 3]],
    ['IntegerLookup', LOOKUP, 'output_mode', ['other']],
    ['IntegerLookup', LOOKUP, 'invert', [true]],
    ['IntegerLookup', LOOKUP, 'sparse', [true]],
    ['IntegerLookup', LOOKUP, 'oov_method', ['other']],
    ['IntegerLookup', LOOKUP, 'vocabulary', [undefined, null, 'a file']],
    ['Hashing', { num_bins: 3 }, 'output_mode', ['tf_idf']],
    ['Hashing', { num_bins: 3 }, 'sparse', [true]],
  ] as const) {
    it(`are refused where they need what is not here: ${field} of ${className}`, () => {
      for (const value of values) {
        expectError(() => made(className, { ...config, [field]: value }), 'ValueError', `here.${field}`);
      }
    });
  }

  it('leave out what is not known, with a warning, where files are not read strictly', () => {
    const warn = spyOn(console, 'warn');
    expect(made('UnitNormalization', { axis: -1, novelty: 1 }, { strict: false }).name).toBe('here');
    expect(warn.calls.allArgs().flat().join()).toMatch(/left out because strict is false: .*here\.novelty/);
  });

  it('have no larger weights than the file', () => {
    const sizes = new Set([3, 5]);
    expect(made('Embedding', one, { sizes }).name).toBe('here');
    expectError(() => made('Embedding', { ...one, input_dim: 6 }, { sizes }), 'ValueError', 'here.input_dim', '6');
    // Its vocabulary is no weight.
    expect(made('IntegerLookup', { ...LOOKUP, output_mode: 'int', idf_weights: null, max_tokens: null, pad_to_max_tokens: false }, { sizes }).name).toBe('here'); // prettier-ignore
  });

  it('mask ids as the graph of the file does', () => {
    const config = { ...one, combiner: 'mean' };
    for (const [absent, is, maskZero] of [
      [undefined, 'Embedding', false],
      ['zero', 'Embedding', true],
      ['negative', 'RaggedEmbedding', false],
      ['below 1', 'RaggedEmbedding', true],
    ] as const) {
      const layer = made('Embedding', config, {}, { absent });
      expect(layer.getClassName()).toBe(`TfjsEmbeddings>${is}`);
      expect(layer.getConfig()['maskZero']).withContext(String(absent)).toBe(maskZero);
    }
  });

  it('have no batch of rows for what adapt() was given, and the dtype of ids', () => {
    const shapes = (className: string, config: Json): unknown => (made(className, config) as { batchInputShape?: unknown }).batchInputShape ?? null; // prettier-ignore
    const bins = { bin_boundaries: [1] };
    expect(shapes('Discretization', { ...bins, batch_input_shape: [null] })).toBeNull();
    expect(shapes('Discretization', { ...bins, batch_input_shape: [null, 3] })).toEqual([null, 3]);
    expectError(() => shapes('UnitNormalization', { batch_input_shape: [null] }), 'ValueError', 'here.batchInputShape');
    for (const dtype of ['int32', 'int64']) {
      expect(made('Discretization', { ...bins, dtype }).name).toBe('here');
      expect(made('Discretization', { ...bins, dtype, output_mode: 'int' }).name).toBe('here');
    }
  });

  it('take arguments of their calls, which are the same in all', () => {
    const called = (...causal: (boolean | undefined)[]): Json => ({
      inboundNodes: causal.map((use_causal_mask) => ({
        args: [],
        kwargs: use_causal_mask === undefined ? {} : { use_causal_mask },
      })),
    });
    const causalOf = (...calls: (boolean | undefined)[]): unknown =>
      made('Attention', {}, {}, called(...calls)).getConfig()['useCausalMask'];
    expect(causalOf()).toBe(false);
    expect(causalOf(true)).toBe(true);
    expect(causalOf(true, true)).toBe(true);
    expect(causalOf(false, undefined)).toBe(false);
    expectError(() => causalOf(true, undefined), 'ValueError', 'here.inbound_nodes.use_causal_mask', 'both');
  });
});
