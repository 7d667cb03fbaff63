/** Layers of Keras, Keras RS and NVIDIA distributed-embeddings that become layers of this package. */
import type * as tf from '@tensorflow/tfjs';
import { described } from '../../../base/errors.js';
import { DistributedEmbedding } from '../../../layers/distributed_embedding/layer.js';
import { ConcatOneHotEmbedding } from '../../../layers/embedding/concat_one_hot_embedding.js';
import { AdditiveAttention, Attention } from '../../../layers/attention/attention.js';
import { MultiHeadAttention } from '../../../layers/attention/multi_head_attention.js';
import { Embedding } from '../../../layers/embedding/embedding.js';
import { RaggedEmbedding } from '../../../layers/embedding/ragged_embedding.js';
import { DotInteraction } from '../../../layers/feature_interaction/dot_interaction.js';
import { FeatureCross } from '../../../layers/feature_interaction/feature_cross.js';
import { KerasHardSigmoid } from '../../../layers/keras_hard_sigmoid.js';
import { CategoryEncoding } from '../../../layers/preprocessing/category_encoding.js';
import { DiscretizationLayer } from '../../../layers/preprocessing/discretization_layer.js';
import { HashingLayer } from '../../../layers/preprocessing/hashing_layer.js';
import { Normalization } from '../../../layers/preprocessing/normalization.js';
import { GlobalAveragePooling1D } from '../../../layers/pooling/global_average_pooling1d.js';
import { UnitNormalization } from '../../../layers/unit_normalization.js';
import { VocabularyLayer } from '../../../layers/preprocessing/vocabulary_layer.js';
import { isRecord } from '../../../base/options.js';
import { readComposed } from '../composed_activations.js';
import { readCalls } from './nodes.js';
import { layerError, naming } from '../layer_error.js';
import { LEARNING_CLASSES } from '../learned/learned_fields.js';
import { checkSizes, refuse, type Reading } from './stock_config.js';
import { nameHere, type Json, type LayerJson } from './topology.js';

type LayerClass = tf.serialization.SerializableConstructor<tf.layers.Layer> & {
  fromConfig(cls: unknown, config: tf.serialization.ConfigDict): tf.layers.Layer;
};

interface OwnLayer {
  readonly cls: unknown;
  /** Fields that the layer reads. */
  readonly fields: readonly string[];
  /** Those that have no effect here. */
  readonly dropped?: readonly string[];
  /** What a config means that leaves them out. */
  readonly defaults?: Json;
  /** Fields without which the layer computes something else: what they must be, and a hint where it is not so. */
  readonly wanted?: Readonly<Record<string, Wanted>>;
  /** Arguments of calls that are settings of the layer here: all calls must have the same. */
  readonly fromCalls?: readonly string[];
  /** true: the sizes in its config are not those of weights. */
  readonly isWeightless?: boolean;
}

interface Wanted {
  readonly text: string;
  readonly fits: (value: unknown) => boolean;
  readonly note?: string;
}

function only(...allowed: unknown[]): Wanted {
  const text = allowed.map((each) => JSON.stringify(each)).join(' or ');
  return { text, fits: (value) => allowed.includes(value) };
}

const OFF = only(false);
const MODES = ['int', 'one_hot', 'multi_hot', 'count'];

const BASE = ['name', 'trainable', 'dtype', 'batch_input_shape', 'batch_shape', 'build_config', 'autocast'];
const INTERACTION = [...BASE, 'activity_regularizer'];
const EMBEDDING = [
  ...BASE,
  'input_dim',
  'output_dim',
  'embeddings_initializer',
  'embeddings_regularizer',
  'embeddings_constraint',
  'activity_regularizer',
  'mask_zero',
  'input_length',
  'combiner',
  'use_custom_kernel',
  'sparse',
  'lora_rank',
  'quantization_config',
];

const NONE = only(null);
const CALLED = ['use_causal_mask', 'return_attention_scores'];
const ONE_HEAD = [...INTERACTION, 'use_scale', 'dropout', 'seed'];
/** Of Python, or of kernels that it chooses. */
const UNUSED = [
  'seed',
  'flash_attention',
  'query_shape',
  'key_shape',
  'value_shape',
  'softmax_robust_masking',
  'activity_regularizer',
  'kernel_constraint',
  'bias_constraint',
];

const LOOKUP = [
  'max_tokens',
  'num_oov_indices',
  'mask_token',
  'oov_token',
  'vocabulary',
  'vocabulary_dtype',
  'vocabulary_size',
  'has_input_vocabulary',
  'idf_weights',
  'invert',
  'output_mode',
  'pad_to_max_tokens',
  'oov_method',
  'salt',
  'sparse',
];

const OWN_LAYERS: ReadonlyMap<string, OwnLayer> = new Map<string, OwnLayer>([
  ['Embedding', { cls: Embedding, fields: EMBEDDING }],
  ['EmbedReduce', { cls: Embedding, fields: EMBEDDING, defaults: { combiner: 'mean' } }],
  [
    'MultiHeadAttention',
    {
      cls: MultiHeadAttention,
      fields: [
        ...BASE,
        ...UNUSED,
        'num_heads',
        'key_dim',
        'value_dim',
        'dropout',
        'use_bias',
        'use_gate',
        'output_shape',
        'attention_axes',
        'sliding_window',
        'kernel_initializer',
        'bias_initializer',
        'kernel_regularizer',
        'bias_regularizer',
      ],
      dropped: UNUSED,
      wanted: {
        activity_regularizer: NONE,
        kernel_constraint: NONE,
        bias_constraint: NONE,
        softmax_robust_masking: only(false, null),
      },
      fromCalls: CALLED,
    },
  ],
  [
    'Attention',
    {
      cls: Attention,
      fields: [...ONE_HEAD, 'score_mode'],
      dropped: UNUSED,
      wanted: { activity_regularizer: NONE },
      fromCalls: CALLED,
    },
  ],
  [
    'AdditiveAttention',
    {
      cls: AdditiveAttention,
      fields: [...ONE_HEAD, 'score_mode'],
      dropped: [...UNUSED, 'score_mode'],
      wanted: { activity_regularizer: NONE },
      fromCalls: CALLED,
    },
  ],
  ['GlobalAveragePooling1D', { cls: GlobalAveragePooling1D, fields: [...BASE, 'data_format', 'keepdims'] }],
  ['UnitNormalization', { cls: UnitNormalization, fields: [...INTERACTION, 'axis'] }],
  ['Normalization', { cls: Normalization, fields: [...INTERACTION, 'axis', 'mean', 'variance', 'invert'] }],
  [
    'CategoryEncoding',
    {
      cls: CategoryEncoding,
      fields: [...INTERACTION, 'num_tokens', 'output_mode', 'sparse'],
      wanted: { sparse: OFF },
    },
  ],
  [
    'Discretization',
    {
      cls: DiscretizationLayer,
      fields: [...INTERACTION, 'bin_boundaries', 'num_bins', 'epsilon', 'output_mode', 'sparse'],
      wanted: {
        sparse: OFF,
        bin_boundaries: {
          text: 'the boundaries of the bins',
          fits: Array.isArray,
          note: 'Keras has them once the layer is adapted.',
        },
      },
    },
  ],
  [
    'IntegerLookup',
    {
      cls: VocabularyLayer,
      isWeightless: true,
      fields: [...INTERACTION, ...LOOKUP],
      wanted: {
        output_mode: only(...MODES, 'tf_idf'),
        invert: OFF,
        sparse: OFF,
        oov_method: only('floormod'),
        vocabulary: {
          text: 'the vocabulary, given when the layer was made',
          fits: Array.isArray,
          note: 'That of adapt() lies in .keras files and SavedModels of Keras 2: make the layer with vocabulary=layer.get_vocabulary().',
        },
      },
    },
  ],
  [
    'Hashing',
    {
      cls: HashingLayer,
      fields: [...INTERACTION, 'num_bins', 'mask_value', 'salt', 'output_mode', 'sparse'],
      wanted: { output_mode: only(...MODES), sparse: OFF },
    },
  ],
  [
    'DistributedEmbedding',
    { cls: DistributedEmbedding, fields: [...BASE, 'feature_configs', 'tables', 'table_stacking'] },
  ],
  ['ConcatOneHotEmbedding', { cls: ConcatOneHotEmbedding, fields: [...BASE, 'feature_sizes', 'embedding_width'] }],
  ['DotInteraction', { cls: DotInteraction, fields: [...INTERACTION, 'self_interaction', 'skip_gather'] }],
  [
    'FeatureCross',
    {
      cls: FeatureCross,
      fields: [
        ...INTERACTION,
        'projection_dim',
        'diag_scale',
        'use_bias',
        'pre_activation',
        'kernel_initializer',
        'bias_initializer',
        'kernel_regularizer',
        'bias_regularizer',
      ],
    },
  ],
]);

export function isOwnClass(className: string): boolean {
  return OWN_LAYERS.has(className);
}

/**
 * Tables of Keras RS on the default device are trained by the optimizer of the model, whatever the table's config says;
 * here a table's own optimizer would take over.
 */
function withoutUnusedOptimizers(tables: unknown): unknown {
  if (!Array.isArray(tables)) return tables;
  return tables.map((table: unknown) => {
    const isUnused = isRecord(table) && table['placement'] === 'default_device';
    return isUnused ? { ...table, optimizer: null } : table;
  });
}

/** A function that TensorFlow.js has under another name. */
function functionOf(value: unknown): unknown {
  return value === 'hard_sigmoid' ? KerasHardSigmoid.className : (readComposed(value) ?? value);
}

/** Throws for fields that the layer cannot do without; what is off by default may be left out. */
function checkWanted(layer: LayerJson, wanted: Readonly<Record<string, Wanted>>): void {
  for (const [field, { text, fits, note }] of Object.entries(wanted)) {
    const value = layer.config[field];
    const isDefault = value === undefined && !['bin_boundaries', 'vocabulary'].includes(field);
    if (!isDefault && !fits(value)) throw layerError(layer, field, text, value, note);
  }
}

/** Arguments of the calls of a layer, which must be the same in all. */
function settingsOfCalls(layer: LayerJson, names: readonly string[]): Record<string, unknown> {
  const calls = readCalls(layer).map(({ kwargs }) => names.map((name) => kwargs[name] === true));
  return Object.fromEntries(
    names.map((name, i) => {
      const [first = false, ...others] = calls.map((given) => given[i]!);
      if (others.every((each) => each === first)) return [name, first];
      throw layerError(layer, `inbound_nodes.${name}`, 'the same in all calls of the layer', described('both'));
    }),
  );
}

/** Makes the layer. Throws ValueError, which names the layer and the field. */
export function makeOwnLayer(layer: LayerJson, reading: Reading): tf.layers.Layer {
  const own = OWN_LAYERS.get(layer.className)!;
  const { cls: usual, fields, defaults, wanted = {}, isWeightless, dropped = [], fromCalls = [] } = own;
  const { absent } = layer;
  const cls = absent === 'negative' || absent === 'below 1' ? RaggedEmbedding : usual;
  const config: Record<string, unknown> = { ...defaults, ...settingsOfCalls(layer, fromCalls) };
  for (const [field, value] of Object.entries(layer.config)) {
    if (dropped.includes(field)) continue;
    if (fields.includes(field)) config[field] = field === 'pre_activation' ? functionOf(value) : value;
    else if (value !== null && value !== undefined) {
      refuse(reading, layer, field, `one of ${fields.join(', ')}`, described(`the field ${field}`));
    }
  }
  checkWanted(layer, wanted);
  if (isWeightless !== true) checkSizes(reading, layer);
  const tables: unknown = Array.isArray(config['tables']) ? config['tables'] : [];
  (tables as unknown[]).forEach((table, i) => isRecord(table) && checkSizes(reading, layer, table, `tables[${i}].`));
  if (layer.className === 'MultiHeadAttention' && reading.version === 2) config['zeroes_masked'] = false;
  if (layer.className === 'DistributedEmbedding') config['tables'] = withoutUnusedOptimizers(config['tables']);
  // Keras 2 tells the dtype of the ids, which are whole numbers here too.
  const isOfIds = ['int64', 'int32'].includes(String(config['dtype'])) && (config['output_mode'] ?? 'int') === 'int';
  if (layer.className === 'Discretization' && isOfIds) delete config['dtype'];
  // Nor is what adapt() was given a shape of inputs: a vector of values has no batch of rows.
  const start = config['batch_input_shape'];
  if (LEARNING_CLASSES.has(layer.className) && Array.isArray(start) && start.length < 2)
    delete config['batch_input_shape'];
  config['name'] = nameHere(layer);
  if (absent === 'below 1' || absent === 'zero') config['mask_zero'] = true;
  const made = cls as LayerClass;
  return naming(layer, () => made.fromConfig(made, config as tf.serialization.ConfigDict));
}
