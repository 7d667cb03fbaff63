/** A feature of `DistributedEmbedding`: a table, and the shapes that go in and come out. */
import { brand } from '../base/per_process.js';
import { camelKeys } from '../base/camel_case.js';
import { ArgumentTypeError, ValueError } from '../base/errors.js';
import { refusePositional } from '../base/positional.js';
import { readOptions } from '../base/options.js';
import type { Combiner } from '../base/types.js';
import { checkObject, type SymbolicShape } from '../base/layer_arguments.js';
import { TableConfig, checkText, type TableConfigArgs, type TableFields } from './table_config.js';

export interface FeatureConfigArgs<C extends Combiner | null = Combiner | null> {
  name: string;
  /** An `emb.TableConfig`, or one of `emb.tpu`, which becomes an `emb.TableConfig`, the same for the same object. */
  table: TableFields<C>;
  /** [batch] or [batch, valence] of the ids; null where unknown. A ragged valence is a maximum. */
  inputShape: readonly (number | null)[];
  /** [batch, embeddingDim]. */
  outputShape: readonly (number | null)[];
}

const FIELDS = ['name', 'table', 'inputShape', 'outputShape'] as const;

function readShape(value: unknown, argument: string): SymbolicShape {
  const expected = 'a shape with at least the batch axis, such as [null, 8]';
  if (!Array.isArray(value)) throw new ArgumentTypeError(argument, expected, value);
  if (value.length === 0) throw new ValueError(argument, expected, value);
  for (const size of value as unknown[]) {
    if (size === null) continue;
    if (typeof size !== 'number') throw new ArgumentTypeError(argument, expected, value);
    if (!Number.isInteger(size) || size < 0) throw new ValueError(argument, expected, value);
  }
  return [...(value as SymbolicShape)];
}

/**
 * A feature: ids that are looked up in a table. Several features may share one `TableConfig` object, and so its table.
 *
 * Ids of shape [batch, valence], ragged and sparse ids are combined to [batch, embeddingDim] as the table's combiner
 * says; ids of shape [batch] give [batch, embeddingDim] as they are. Negative ids of a dense batch are absent.
 * The TPU API takes it too, and `distributedEmbedding` one of `emb.tpu` that has a name and no sequences.
 * `inputShape` tells the planner how many ids a sample has; batches of other shapes are taken too.
 * Source: keras_rs.layers.FeatureConfig (Keras RS 0.4).
 *
 * @throws TypeError for missing or wrongly typed fields; ValueError for shapes without an axis.
 *
 * @example
 * const seen = new emb.FeatureConfig({name: 'seen', table: movies, inputShape: [32, 5], outputShape: [32, 16]});
 */
export class FeatureConfig<C extends Combiner | null = Combiner> {
  static {
    brand(this, 'FeatureConfig');
  }
  readonly name: string;
  readonly table: TableConfig<C>;
  readonly inputShape: SymbolicShape;
  readonly outputShape: SymbolicShape;

  /** @param args - The table and the shapes of ids and rows; see `FeatureConfigArgs`. */
  constructor(args: FeatureConfigArgs<C>);
  constructor(...all: [FeatureConfigArgs<C>]) {
    refusePositional('new emb.FeatureConfig', FIELDS, all);
    const given = readOptions<FeatureConfigArgs<C>>(all[0], FIELDS, 'args');
    this.name = checkText(given.name, 'name');
    this.table = this.readTable(given.table);
    this.inputShape = readShape(given.inputShape, 'inputShape');
    this.outputShape = readShape(given.outputShape, 'outputShape');
  }

  /** @internal */
  protected readTable(table: unknown): TableConfig<C> {
    if (table instanceof TableConfig) return (table as TableFields<C>).forLayers();
    throw new ArgumentTypeError('table', 'an emb.TableConfig', table);
  }

  /** Ids per sample, as far as the shape tells. */
  get hotness(): number {
    return this.inputShape.slice(1).reduce<number>((product, size) => product * (size ?? 1), 1);
  }

  /**
   * The feature as layers look it up: itself.
   * @internal
   */
  forLayers(): FeatureConfig<C> {
    return this;
  }

  /**
   * The fields as plain data, the table's among them.
   *
   * @returns The fields in camelCase.
   */
  getConfig(): Record<string, unknown> {
    return { ...this.ownConfig(), table: this.table.getConfig() };
  }

  /**
   * The fields without the table.
   *
   * @returns The fields in camelCase.
   */
  ownConfig(): { name: string; inputShape: SymbolicShape; outputShape: SymbolicShape } {
    return { name: this.name, inputShape: this.inputShape, outputShape: this.outputShape };
  }

  /**
   * Makes a feature config from its own config or from one of Keras RS, with snake_case or camelCase keys.
   *
   * @param config - The fields, in camelCase or in snake_case.
   * @returns A new config.
   */
  static fromConfig(config: object): FeatureConfig<Combiner | null> {
    const { table, ...own } = camelKeys(checkObject(config, 'config'));
    const made =
      table instanceof TableConfig
        ? table
        : TableConfig.fromConfig(checkObject(table, 'table') as unknown as TableConfigArgs);
    return new FeatureConfig({ ...own, table: made } as unknown as FeatureConfigArgs);
  }
}
