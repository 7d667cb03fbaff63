/** A table as the TPU embedding API knows it. */
import * as tf from '@tensorflow/tfjs';
import { brand } from '../../base/per_process.js';
import { ValueError } from '../../base/errors.js';
import { codecOf } from '../../codecs/codecs.js';
import { WEIGHING, INT32_MAX, type Combiner } from '../../base/types.js';
import {
  DEFAULT_LIMIT,
  TableConfig as SharedTableConfig,
  type TableConfigArgs as SharedArgs,
  type TableFields,
} from '../../tables/table_config.js';
import { optimizerConfig, optimizerFromConfig, readOptimizer } from '../optimizers/optimizer_config.js';
import type { TPUEmbeddingOptimizer } from '../optimizers/tpu_optimizer.js';
import { asTpuOptimizer, asTrainOptimizer } from '../optimizers/train_optimizer.js';
import { configText, nameOrNull, readConfig, readFields, wholeNumber } from './fields.js';
import { QuantizationConfig } from './quantization_config.js';
import {
  asInitializer,
  initializerConfig,
  readTableInitializer,
  type TableInitializer,
  type TableInitializerInput,
} from './table_initializer.js';

export interface TableConfigArgs {
  /** Number of rows: ids are in [0, vocabularySize). */
  vocabularySize: number;
  /** Number of columns; `embeddingDim` is the same. */
  dim?: number | undefined;
  /** Number of columns, as `emb.TableConfig` names it. */
  embeddingDim?: number | undefined;
  /** A function (shape, dtype) => tensor, or an initializer; by default a truncated normal of deviation 1 / sqrt(dim). */
  initializer?: TableInitializerInput | null | undefined;
  /** By default the optimizer of the embedding object. */
  optimizer?: TPUEmbeddingOptimizer | null | undefined;
  /** How the rows of a sample become one; `mean` by default. */
  combiner?: Combiner | undefined;
  name?: string | null | undefined;
  quantizationConfig?: QuantizationConfig | null | undefined;
  /** A layout on SparseCores that was computed before, for `TPUEmbeddingV2`; normally null. Elsewhere it does not count. */
  layout?: object | null | undefined;
  /** `float32` by default. Embedding objects refuse `int32`, which TensorFlow does not train either. */
  dtype?: 'float32' | 'int32' | undefined;
}

const FIELDS = [
  'vocabularySize',
  'dim',
  'embeddingDim',
  'initializer',
  'optimizer',
  'combiner',
  'name',
  'quantizationConfig',
  'layout',
  'dtype',
] as const;

function size(value: unknown, argument: string): number {
  const whole = wholeNumber(value, argument, 1);
  if (whole > INT32_MAX) throw new ValueError(argument, 'a whole number below 2^31', value);
  return whole;
}

function oneOf<T extends string>(value: unknown, argument: string, known: readonly T[]): T {
  const found = known.find((each) => each === value);
  if (found === undefined) throw new ValueError(argument, `one of ${known.join(', ')}`, value);
  return found;
}

/** The number of columns, under either name. */
function columns({ dim, embeddingDim }: Partial<TableConfigArgs>): number {
  if (dim === undefined && embeddingDim !== undefined) return size(embeddingDim, 'embeddingDim');
  const found = size(dim, 'dim');
  if (embeddingDim !== undefined && embeddingDim !== found) {
    throw new ValueError('embeddingDim', `${found}, as dim is, or nothing`, embeddingDim);
  }
  return found;
}

function readQuantization(value: unknown): QuantizationConfig | null {
  if (value === undefined || value === null) return null;
  if (value instanceof QuantizationConfig) return value;
  throw new ValueError('quantizationConfig', 'an emb.tpu.QuantizationConfig or null', value);
}

/** A table as users give it to the TPU API. */
export type GivenTableConfig = TableConfig | SharedTableConfig;

/** What an `emb.TableConfig` has, but for what is of another type here. */
type SharedFields = Omit<SharedTableConfig<Combiner>, 'name' | 'initializer' | 'optimizer' | 'getConfig' | 'forLayers'>;
const Shared = SharedTableConfig as unknown as new (args: SharedArgs<Combiner>) => SharedFields;

/**
 * A table of embeddings, [vocabularySize, dim], that features look up.
 *
 * It is an `emb.TableConfig` that takes TensorFlow's names too, `dim` for `embeddingDim`. `distributedEmbedding` takes it
 * where it has a name and no field that only TPU embeddings know; the TPU API takes an `emb.TableConfig`.
 * Features share a table where they hold the same object: two equal ones are two tables. A table without a name becomes
 * `table_0`, `table_1`, …, and one without an optimizer gets that of the embedding object: both are then written into
 * `name` and `optimizer` of this object.
 * Source: tf.tpu.experimental.embedding.TableConfig (TensorFlow 2.21).
 *
 * @throws ValueError for sizes below 1 or not whole, an initializer that is none, a combiner other than mean, sum and
 * sqrtn, an optimizer of another kind and a dtype other than float32 and int32.
 *
 * @example
 * const movies = new emb.tpu.TableConfig({vocabularySize: 1000, dim: 16, combiner: 'sum', name: 'movies'});
 */
export class TableConfig extends Shared implements TableFields<Combiner> {
  static {
    brand(this, 'tpu.TableConfig');
  }
  readonly initializer: TableInitializer;
  optimizer: TPUEmbeddingOptimizer | null;
  name: string | null;
  readonly quantizationConfig: QuantizationConfig | null;
  readonly layout: object | null;
  readonly dtype: 'float32' | 'int32';
  readonly #hasOwnInitializer: boolean;
  #forLayers: SharedTableConfig<Combiner> | null = null;

  /** @param args - Size, initial values, optimizer and combiner; see `TableConfigArgs`. */
  constructor(args: TableConfigArgs);
  constructor(...passed: [TableConfigArgs]) {
    const given = readFields<TableConfigArgs>('new emb.tpu.TableConfig', FIELDS, passed);
    const [vocabularySize, embeddingDim] = [size(given.vocabularySize, 'vocabularySize'), columns(given)];
    super({
      // Names, initial values and optimizers are of other kinds here.
      name: 'table',
      initializer: 'zeros',
      vocabularySize,
      embeddingDim,
      combiner: oneOf<Combiner>(given.combiner ?? 'mean', 'combiner', WEIGHING),
    });
    this.#hasOwnInitializer = given.initializer !== undefined && given.initializer !== null;
    this.initializer = this.#hasOwnInitializer
      ? readTableInitializer(given.initializer)
      : tf.initializers.truncatedNormal({ mean: 0, stddev: 1 / Math.sqrt(this.dim) });
    this.optimizer = readOptimizer(given.optimizer);
    this.name = nameOrNull(given.name);
    this.quantizationConfig = readQuantization(given.quantizationConfig);
    this.layout = given.layout ?? null;
    this.dtype = oneOf(given.dtype ?? 'float32', 'dtype', ['float32', 'int32'] as const);
  }

  /** Number of columns: TensorFlow's name of `embeddingDim`. */
  get dim(): number {
    return this.embeddingDim;
  }

  /**
   * The table as layers make it, the same each time.
   * @internal
   */
  forLayers(): SharedTableConfig<Combiner> {
    return (this.#forLayers ??= this.#makeForLayers());
  }

  #makeForLayers(): SharedTableConfig<Combiner> {
    const { name, vocabularySize, embeddingDim, combiner, quantizationConfig, layout, dtype } = this;
    for (const [field, value] of Object.entries({ quantizationConfig, layout })) {
      if (value !== null) throw new ValueError(`table.${field}`, 'null: only TPU embeddings know it', value);
    }
    if (dtype !== 'float32') throw new ValueError('table.dtype', 'float32', dtype);
    if (name === null) throw new ValueError('table.name', 'a name', null);
    return new SharedTableConfig({
      name,
      vocabularySize,
      embeddingDim,
      combiner,
      initializer: asInitializer(this.initializer),
      optimizer: this.optimizer === null ? null : asTrainOptimizer(this.optimizer),
    });
  }

  /**
   * The fields as plain data; an initializer that is a function is there as it is, and so are functions of optimizers.
   *
   * @returns The fields in camelCase.
   */
  getConfig(): Record<string, unknown> {
    return {
      vocabularySize: this.vocabularySize,
      dim: this.dim,
      initializer: this.#hasOwnInitializer ? initializerConfig(this.initializer) : null,
      optimizer: optimizerConfig(this.optimizer),
      combiner: this.combiner,
      name: this.name,
      quantizationConfig: this.quantizationConfig?.getConfig() ?? null,
      layout: this.layout,
      dtype: this.dtype,
    };
  }

  /**
   * Makes one from a config with camelCase or snake_case keys.
   *
   * @param config - The fields, in camelCase or in snake_case.
   * @returns A new config.
   */
  static fromConfig(config: object): TableConfig {
    const { optimizer, quantizationConfig, ...own } = readConfig<TableConfigArgs>(config);
    const isMade = quantizationConfig === undefined || quantizationConfig === null;
    const quantization =
      isMade || quantizationConfig instanceof QuantizationConfig
        ? quantizationConfig
        : QuantizationConfig.fromConfig(quantizationConfig);
    return new TableConfig({ ...own, optimizer: optimizerFromConfig(optimizer), quantizationConfig: quantization });
  }

  /**
   * The table of a TPU embedding from either class: itself, or one that is made of an `emb.TableConfig`, the same each time.
   * @internal
   */
  static from(given: TableFields): TableConfig {
    if (given instanceof TableConfig) return given;
    const known = MADE.get(given);
    if (known !== undefined) return known;
    const shared = given as SharedTableConfig;
    const made = fromShared(shared);
    MADE.set(given, made);
    GIVEN.set(made, shared);
    return made;
  }

  /**
   * What the user gave for a table: itself, or the `emb.TableConfig` that it was made of.
   * @internal
   */
  get given(): GivenTableConfig {
    return GIVEN.get(this) ?? this;
  }

  /**
   * As Python shows it: the default initializer as null.
   *
   * @returns `TableConfig(…)` with all fields.
   */
  override toString(): string {
    const { layout: _layout, dtype: _dtype, ...shown } = this.getConfig();
    return configText('TableConfig', {
      ...shown,
      initializer: this.#hasOwnInitializer ? this.initializer : null,
      optimizer: this.optimizer,
      quantizationConfig: this.quantizationConfig,
    });
  }
}

const MADE = new WeakMap<TableFields, TableConfig>();
const GIVEN = new WeakMap<TableConfig, GivenTableConfig>();

/** What only layers know is refused. */
function fromShared(given: SharedTableConfig<Combiner | null>): TableConfig {
  const { name, vocabularySize, embeddingDim: dim, initializer, optimizer, combiner } = given;
  const refuse = (field: string, expected: string, value: unknown): never => {
    throw new ValueError(`table.${field}`, `${expected} for TPU embeddings`, value);
  };
  if (combiner === null) refuse('combiner', 'a combiner', null);
  if (!codecOf(given.storage).isPlain) refuse('storage', 'float32', given.storage);
  if (given.placement === 'default_device') refuse('placement', 'auto or sparsecore', given.placement);
  for (const field of ['maxIdsPerPartition', 'maxUniqueIdsPerPartition'] as const) {
    if (given[field] !== DEFAULT_LIMIT) {
      refuse(field, `${DEFAULT_LIMIT}, and limits in emb.tpu.SparseCoreEmbeddingConfig,`, given[field]);
    }
  }
  return new TableConfig({
    name,
    vocabularySize,
    dim,
    initializer,
    optimizer: optimizer === null ? null : asTpuOptimizer(optimizer),
    combiner: combiner!,
  });
}
