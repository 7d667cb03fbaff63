/** A table as a `FeatureConfig` names it. */
import * as tf from '@tensorflow/tfjs';
import { brand } from '../base/per_process.js';
import { camelKeys } from '../base/camel_case.js';
import { ArgumentTypeError, ValueError } from '../base/errors.js';
import { refusePositional } from '../base/positional.js';
import { checkCombiner } from '../lookup/arguments.js';
import { isRecord, readOptions } from '../base/options.js';
import type { SparseOptimizer } from '../optimizers/sparse_optimizer.js';
import type { Combiner } from '../base/types.js';
import type { Storage } from '../codecs/codec.js';
import { readStorage, storageFields } from './storage.js';
import { readInitializerOf, type Initializer, type InitializerInput } from './initializers.js';
import { checkDimension, checkObject } from '../base/layer_arguments.js';
import { readNamedOptimizer, type OptimizerInput } from './named_optimizer.js';
import { serializeRegistered } from './registered_objects.js';

/** Where a table lies: `auto` and `sparsecore` on the devices of the backend, which `sparsecore` insists on. */
export type TablePlacement = 'auto' | 'sparsecore' | 'default_device';
const PLACEMENTS: readonly TablePlacement[] = ['auto', 'sparsecore', 'default_device'];

export interface TableConfigArgs<C extends Combiner | null = Combiner | null> {
  name: string;
  /** Number of rows: ids are in [0, vocabularySize). */
  vocabularySize: number;
  /** Number of columns. */
  embeddingDim: number;
  /** By default varianceScaling with `mode: 'fanOut'`. */
  initializer?: InitializerInput | null | undefined;
  /** Of this table alone; by default, and where null, the table is trained by the optimizer of `compile`. */
  optimizer?: OptimizerInput | null | undefined;
  /** How the rows of the innermost axis become one; `mean` by default; null: they stay apart. */
  combiner?: C | undefined;
  placement?: TablePlacement | undefined;
  /** How rows are kept, as in `embeddingTable`. Default: 'float32'. */
  storage?: Storage | null | undefined;
  /** Limits of a SparseCore; kept, but no id is ever dropped here. */
  maxIdsPerPartition?: number | undefined;
  maxUniqueIdsPerPartition?: number | undefined;
}

/** What an `emb.TableConfig` and an `emb.tpu.TableConfig` have in common. */
export interface TableFields<C extends Combiner | null = Combiner | null> {
  readonly vocabularySize: number;
  readonly embeddingDim: number;
  readonly combiner: C;
  /** @internal */
  forLayers(): TableConfig<C>;
}

const FIELDS = [
  'name',
  'vocabularySize',
  'embeddingDim',
  'initializer',
  'optimizer',
  'combiner',
  'placement',
  'storage',
  'maxIdsPerPartition',
  'maxUniqueIdsPerPartition',
] as const;
/** Ids of a partition, and different ones, unless more are asked for. */
export const DEFAULT_LIMIT = 256;

/** Any non-empty string; names of tensors, which tfjs restricts, are made from it. */
export function checkText(value: unknown, argument: string): string {
  if (typeof value !== 'string') throw new ArgumentTypeError(argument, 'a string', value);
  if (value === '') throw new ValueError(argument, 'a string that is not empty', value);
  return value;
}

function readPlacement(value: unknown): TablePlacement {
  if (value === undefined || value === null) return 'auto';
  const expected = `one of ${PLACEMENTS.join(', ')}`;
  const text = isRecord(value) ? value['name'] : value;
  if (typeof text !== 'string') throw new ArgumentTypeError('placement', expected, value);
  const known = PLACEMENTS.find((each) => each === text);
  if (known === undefined) throw new ValueError('placement', expected, text);
  return known;
}

/**
 * A table that features of a `DistributedEmbedding` look up: features with the same object share one table. The TPU API
 * takes it too, and `distributedEmbedding` takes one of `emb.tpu`, where it has no field that only TPU embeddings know.
 *
 * The table is [vocabularySize, embeddingDim] float32. `optimizer` may be an `emb.train` optimizer or its name; it asks
 * for an `emb.train` optimizer in `compile`. Placement `sparsecore` asks for a backend with devices; `default_device`
 * is accepted, and places the table like `auto`.
 * Source: keras_rs.layers.TableConfig (Keras RS 0.4), but for `optimizer`, which is null by default.
 *
 * @throws TypeError for missing or wrongly typed fields; ValueError for sizes below 1 and unknown names.
 *
 * @example
 * const movies = new emb.TableConfig({name: 'movies', vocabularySize: 1000, embeddingDim: 16, combiner: 'sum'});
 */
export class TableConfig<C extends Combiner | null = Combiner> implements TableFields<C> {
  static {
    brand(this, 'TableConfig');
  }
  readonly name: string;
  readonly vocabularySize: number;
  readonly embeddingDim: number;
  readonly initializer: Initializer;
  readonly optimizer: SparseOptimizer | null;
  readonly combiner: C;
  readonly placement: TablePlacement;
  readonly storage: Storage;
  readonly maxIdsPerPartition: number;
  readonly maxUniqueIdsPerPartition: number;

  /** @param args - Size, initial values, optimizer and combiner; see `TableConfigArgs`. */
  constructor(args: TableConfigArgs<C>);
  constructor(...all: [TableConfigArgs<C>]) {
    refusePositional('new emb.TableConfig', FIELDS, all);
    const given = readOptions<TableConfigArgs>(all[0], FIELDS, 'args');
    this.name = checkText(given.name, 'name');
    this.vocabularySize = checkDimension(given.vocabularySize, 'vocabularySize');
    this.embeddingDim = checkDimension(given.embeddingDim, 'embeddingDim');
    this.initializer =
      given.initializer === undefined || given.initializer === null
        ? tf.initializers.varianceScaling({ scale: 1, mode: 'fanOut', distribution: 'normal' })
        : readInitializerOf('initializer', given.initializer, 'zeros');
    this.optimizer = readNamedOptimizer(given.optimizer);
    const { combiner } = given;
    this.combiner = (combiner === undefined ? 'mean' : combiner === null ? null : checkCombiner(combiner)) as C;
    this.placement = readPlacement(given.placement);
    this.storage = readStorage(given.storage);
    this.maxIdsPerPartition = checkDimension(given.maxIdsPerPartition ?? DEFAULT_LIMIT, 'maxIdsPerPartition');
    this.maxUniqueIdsPerPartition = checkDimension(
      given.maxUniqueIdsPerPartition ?? DEFAULT_LIMIT,
      'maxUniqueIdsPerPartition',
    );
  }

  /**
   * The table as layers make it: itself.
   * @internal
   */
  forLayers(): TableConfig<C> {
    return this;
  }

  /**
   * The fields as plain data.
   *
   * @returns The fields in camelCase.
   */
  getConfig(): Record<string, unknown> {
    return {
      name: this.name,
      vocabularySize: this.vocabularySize,
      embeddingDim: this.embeddingDim,
      initializer: serializeRegistered(this.initializer),
      optimizer: serializeRegistered(this.optimizer),
      combiner: this.combiner,
      // tfjs rewrites other texts in the config of a layer.
      placement: { name: this.placement },
      ...storageFields(this.storage),
      maxIdsPerPartition: this.maxIdsPerPartition,
      maxUniqueIdsPerPartition: this.maxUniqueIdsPerPartition,
    };
  }

  /**
   * Makes a table config from its own config or from one of Keras RS, with snake_case or camelCase keys.
   *
   * @param config - The fields, in camelCase or in snake_case.
   * @returns A new config.
   */
  static fromConfig(config: object): TableConfig<Combiner | null> {
    return new TableConfig(camelKeys(checkObject(config, 'config')) as unknown as TableConfigArgs);
  }
}
