/** A feature as the TPU embedding API knows it: what is looked up in which table, and the shape of what comes out. */
import { brand } from '../../base/per_process.js';
import { ArgumentTypeError, ValueError } from '../../base/errors.js';
import type { Combiner } from '../../base/types.js';
import { configText, nameOrNull, readConfig, readFields, sameField, wholeNumber } from './fields.js';
import {
  FeatureConfig as SharedFeatureConfig,
  type FeatureConfigArgs as SharedArgs,
} from '../../tables/feature_config.js';
import { TableConfig as SharedTableConfig, type TableFields } from '../../tables/table_config.js';
import { TableConfig } from './table_config.js';

/** null where a size is not known. */
export type PartialShape = readonly (number | null)[];

export interface FeatureConfigArgs {
  /** An `emb.tpu.TableConfig`, or an `emb.TableConfig`, which becomes one, the same for the same object. */
  table: TableFields;
  /** Above 0: a sequence of at most so many ids, each looked up by itself; only for ids of rank 2 without `outputShape`. */
  maxSequenceLength?: number | undefined;
  /** For serving. true: ids below 0 are left out, and weights <= 0 unless the combiner is sum; false: ids are taken as they are. */
  validateWeightsAndIndices?: boolean | undefined;
  /** Shape of the activations without the axis of the columns. */
  outputShape?: PartialShape | null | undefined;
  name?: string | null | undefined;
}

const FIELDS = ['table', 'maxSequenceLength', 'validateWeightsAndIndices', 'outputShape', 'name'] as const;

/** A shape whose sizes may be unknown. */
export function readShape(value: unknown, argument: string): PartialShape {
  const expected = 'a shape such as [32, 4], with null where a size is not known';
  if (!Array.isArray(value)) throw new ArgumentTypeError(argument, expected, value);
  for (const each of value as unknown[]) {
    if (each === null) continue;
    if (typeof each !== 'number') throw new ArgumentTypeError(argument, expected, value);
    if (!Number.isSafeInteger(each) || each < 0) throw new ValueError(argument, expected, value);
  }
  return Object.freeze([...(value as PartialShape)]);
}

/** What an `emb.FeatureConfig` has, but for what is of another type here. */
type SharedFields = Omit<SharedFeatureConfig, OfOtherTypes>;
type OfOtherTypes = 'name' | 'table' | 'outputShape' | 'getConfig' | 'ownConfig' | 'forLayers' | 'readTable';
const Shared = SharedFeatureConfig as unknown as new (args: SharedArgs) => SharedFields;

/**
 * A feature: ids that are looked up in a table.
 *
 * Without further fields the ids of a sample are combined to one row. `maxSequenceLength` above 0 makes it a sequence:
 * its rows stay apart, padded with zeros and cut to that length. `outputShape` ([batch, …], without the columns) fixes the
 * shape of the result and goes before everything that inputs and `build` say.
 * Source: tf.tpu.experimental.embedding.FeatureConfig (TensorFlow 2.21).
 *
 * @throws ValueError for a table of another type, a length that is no whole number from 0 on and a
 * `validateWeightsAndIndices` that is not true or false; TypeError for what is no shape.
 *
 * @example
 * const watched = new emb.tpu.FeatureConfig({table: movies, maxSequenceLength: 5, name: 'watched'});
 */
export class FeatureConfig extends Shared {
  static {
    brand(this, 'tpu.FeatureConfig');
  }
  declare readonly table: TableConfig;
  readonly maxSequenceLength: number;
  readonly validateWeightsAndIndices: boolean;
  readonly outputShape: PartialShape | null;
  readonly name: string | null;
  #forLayers: SharedFeatureConfig | null = null;

  /** @param args - The table and how the feature reads it; see `FeatureConfigArgs`. */
  constructor(args: FeatureConfigArgs);
  constructor(...passed: [FeatureConfigArgs]) {
    const given = readFields<FeatureConfigArgs>('new emb.tpu.FeatureConfig', FIELDS, passed);
    // Shapes and names are of other kinds here.
    super({ name: 'feature', table: given.table!, inputShape: [null, null], outputShape: [null, null] });
    this.maxSequenceLength = wholeNumber(given.maxSequenceLength ?? 0, 'maxSequenceLength', 0);
    const { validateWeightsAndIndices = true } = given;
    if (typeof validateWeightsAndIndices !== 'boolean') {
      throw new ValueError('validateWeightsAndIndices', 'true or false', validateWeightsAndIndices);
    }
    this.validateWeightsAndIndices = validateWeightsAndIndices;
    const { outputShape } = given;
    this.outputShape = outputShape === undefined || outputShape === null ? null : readShape(outputShape, 'outputShape');
    this.name = nameOrNull(given.name);
  }

  /** @internal */
  protected readTable(table: unknown): TableConfig {
    if (table instanceof SharedTableConfig) return TableConfig.from(table);
    throw new ValueError('table', 'an emb.tpu.TableConfig', table);
  }

  /**
   * The feature as layers look it up, the same each time.
   * @internal
   */
  forLayers(): SharedFeatureConfig {
    return (this.#forLayers ??= this.#makeForLayers());
  }

  #makeForLayers(): SharedFeatureConfig {
    const { name, table, outputShape, maxSequenceLength, validateWeightsAndIndices } = this;
    const refuse = (field: string, expected: string, value: unknown): never => {
      throw new ValueError(field, `${expected} where no TPU embedding looks the feature up`, value);
    };
    if (name === null) throw new ValueError('name', 'a name', null);
    if (maxSequenceLength !== 0) refuse('maxSequenceLength', '0', maxSequenceLength);
    if (!validateWeightsAndIndices) refuse('validateWeightsAndIndices', 'true', false);
    if (outputShape !== null && outputShape.length !== 1) refuse('outputShape', '[batch] or null', outputShape);
    const [batch = null] = outputShape ?? [];
    const shapes = { inputShape: [batch, null], outputShape: [batch, table.dim] };
    return new SharedFeatureConfig({ name, table: table.forLayers(), ...shapes });
  }

  /**
   * A feature of a TPU embedding from either class: itself, or one that is made of an `emb.FeatureConfig`, the same each
   * time.
   * @internal
   */
  static from(given: FeatureConfig | SharedFeatureConfig<Combiner | null>): FeatureConfig {
    if (given instanceof FeatureConfig) return given;
    const known = MADE.get(given);
    if (known !== undefined) return known;
    const { name, table, outputShape } = given;
    const [shape, columns] = [outputShape.slice(0, -1), outputShape.at(-1)];
    if (columns !== null && columns !== table.embeddingDim) {
      throw new ValueError('outputShape', `a shape that ends with the ${table.embeddingDim} columns`, outputShape);
    }
    // What inputs say counts where nothing is known.
    const isOpen = shape.every((size) => size === null);
    const made = new FeatureConfig({ name, table, outputShape: isOpen ? null : shape });
    MADE.set(given, made);
    return made;
  }

  /**
   * Whether the other one has the same table object and the same fields.
   *
   * @param other - Anything.
   * @returns Whether both say the same.
   */
  equals(other: unknown): boolean {
    return (
      other instanceof FeatureConfig && this.table === other.table && sameField(this.ownConfig(), other.ownConfig())
    );
  }

  /**
   * The fields without the table.
   *
   * @returns The fields in camelCase.
   */
  ownConfig(): Record<string, unknown> {
    const { maxSequenceLength, validateWeightsAndIndices, outputShape, name } = this;
    return { maxSequenceLength, validateWeightsAndIndices, outputShape, name };
  }

  /**
   * The fields as plain data, the table's among them.
   *
   * @returns The fields in camelCase.
   */
  getConfig(): Record<string, unknown> {
    return { table: this.table.getConfig(), ...this.ownConfig() };
  }

  /**
   * Makes one from a config with camelCase or snake_case keys; `table` may be a TableConfig, which is then shared.
   *
   * @param config - The fields, in camelCase or in snake_case.
   * @returns A new config.
   */
  static fromConfig(config: object): FeatureConfig {
    const { table, ...own } = readConfig<FeatureConfigArgs>(config);
    const isMade = table instanceof SharedTableConfig || typeof table !== 'object' || table === null;
    return new FeatureConfig({ ...own, table: isMade ? table : TableConfig.fromConfig(table) });
  }

  /** @returns `FeatureConfig(…)` with all fields, as Python shows it. */
  override toString(): string {
    return configText('FeatureConfig', { table: this.table, ...this.ownConfig() });
  }
}

const MADE = new WeakMap<object, FeatureConfig>();
