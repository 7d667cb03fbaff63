/** What `TPUEmbeddingV2` may be told about buffers and stacking. */
import { brand } from '../../base/per_process.js';
import { ArgumentTypeError } from '../../base/errors.js';
import { isRecord } from '../../base/options.js';
import { configText, readConfig, readFields, sameField, truth, wholeNumber } from './fields.js';

/** A limit for each stack of tables, by its name. */
export type LimitsByStack = Readonly<Record<string, number>>;

export interface SparseCoreEmbeddingConfigArgs {
  /** true: every table is a stack of its own. */
  disableTableStacking?: boolean | undefined;
  /** Room in the buffers for ids, per sample of a chip. */
  maxIdsPerChipPerSample?: number | undefined;
  /** Most ids that one SparseCore gets from another in a step, by name of the stack; 256 where a name is missing. */
  maxIdsPerTable?: LimitsByStack | null | undefined;
  /** Most different ids of the same. */
  maxUniqueIdsPerTable?: LimitsByStack | null | undefined;
  /** true: ids beyond the buffers are left out; false: they are an error. */
  allowIdDropping?: boolean | undefined;
  initializeTablesOnHost?: boolean | undefined;
  enableFastTableInitialization?: boolean | undefined;
}

const FIELDS = [
  'disableTableStacking',
  'maxIdsPerChipPerSample',
  'maxIdsPerTable',
  'maxUniqueIdsPerTable',
  'allowIdDropping',
  'initializeTablesOnHost',
  'enableFastTableInitialization',
] as const;

function limits(value: unknown, argument: string): LimitsByStack | null {
  if (value === undefined || value === null) return null;
  if (!isRecord(value)) throw new ArgumentTypeError(argument, 'an object: a limit by the name of each stack', value);
  const entries = Object.entries(value).map(([stack, limit]) => {
    return [stack, wholeNumber(limit, `${argument}[${JSON.stringify(stack)}]`, 1)] as const;
  });
  return Object.freeze(Object.fromEntries(entries));
}

/**
 * Settings of `TPUEmbeddingV2`; frozen.
 *
 * Defaults: tables are stacked, 64 ids per sample of a chip, no limits by table (256 is then used, with a warning), an
 * error for ids beyond the buffers. `initializeTablesOnHost` and `enableFastTableInitialization` are kept for
 * compatibility: tables are made where they lie, with the same values in any case.
 * Source: tf.tpu.experimental.embedding.SparseCoreEmbeddingConfig (TensorFlow 2.21).
 *
 * @throws TypeError and ValueError for fields of another type, and for limits below 1.
 *
 * @example
 * const config = new emb.tpu.SparseCoreEmbeddingConfig({maxIdsPerTable: {user_video: 512}, allowIdDropping: true});
 */
export class SparseCoreEmbeddingConfig {
  static {
    brand(this, 'tpu.SparseCoreEmbeddingConfig');
  }
  readonly disableTableStacking: boolean;
  readonly maxIdsPerChipPerSample: number;
  readonly maxIdsPerTable: LimitsByStack | null;
  readonly maxUniqueIdsPerTable: LimitsByStack | null;
  readonly allowIdDropping: boolean;
  readonly initializeTablesOnHost: boolean;
  readonly enableFastTableInitialization: boolean;

  /** @param args - Stacking and the limits of ids; see `SparseCoreEmbeddingConfigArgs`. */
  constructor(args?: SparseCoreEmbeddingConfigArgs);
  constructor(...passed: [SparseCoreEmbeddingConfigArgs?]) {
    const given = readFields<SparseCoreEmbeddingConfigArgs>('new emb.tpu.SparseCoreEmbeddingConfig', FIELDS, passed);
    this.disableTableStacking = truth(given.disableTableStacking, 'disableTableStacking', false);
    this.maxIdsPerChipPerSample = wholeNumber(given.maxIdsPerChipPerSample ?? 64, 'maxIdsPerChipPerSample', 1);
    this.maxIdsPerTable = limits(given.maxIdsPerTable, 'maxIdsPerTable');
    this.maxUniqueIdsPerTable = limits(given.maxUniqueIdsPerTable, 'maxUniqueIdsPerTable');
    this.allowIdDropping = truth(given.allowIdDropping, 'allowIdDropping', false);
    this.initializeTablesOnHost = truth(given.initializeTablesOnHost, 'initializeTablesOnHost', true);
    this.enableFastTableInitialization = truth(
      given.enableFastTableInitialization,
      'enableFastTableInitialization',
      false,
    );
    Object.freeze(this);
  }

  /**
   * Whether the other one has the same fields.
   *
   * @param other - Anything.
   * @returns Whether both say the same.
   */
  equals(other: unknown): boolean {
    return other instanceof SparseCoreEmbeddingConfig && sameField(this.getConfig(), other.getConfig());
  }

  /**
   * The fields as plain data.
   *
   * @returns The fields in camelCase.
   */
  getConfig(): Required<SparseCoreEmbeddingConfigArgs> {
    const config: Record<string, unknown> = {};
    for (const field of FIELDS) config[field] = this[field];
    return config as Required<SparseCoreEmbeddingConfigArgs>;
  }

  /**
   * Makes one from a config with camelCase or snake_case keys; names of stacks stay as they are.
   *
   * @param config - The fields, in camelCase or in snake_case.
   * @returns A new config.
   */
  static fromConfig(config: object): SparseCoreEmbeddingConfig {
    return new SparseCoreEmbeddingConfig(readConfig<SparseCoreEmbeddingConfigArgs>(config));
  }

  /** @returns `SparseCoreEmbeddingConfig(…)` with all fields, as Python shows it. */
  toString(): string {
    return configText('SparseCoreEmbeddingConfig', this.getConfig());
  }
}
