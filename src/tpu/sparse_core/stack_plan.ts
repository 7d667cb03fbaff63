/** How the tables of a config lie in stacks, and the samples of its features in those of a stack. */
import { ValueError, described } from '../../base/errors.js';
import type { TPUEmbeddingOptimizer } from '../optimizers/tpu_optimizer.js';
import type { QuantizationConfig } from '../config/quantization_config.js';
import type { TableConfig } from '../config/table_config.js';
import { givenLayouts } from './given_layouts.js';
import type { FeatureRows } from './interleave.js';
import type { Cores, SparseCoreLayout } from './layouts.js';
import { product, shardCount } from './numbers.js';
import { stackTables } from './stack_tables.js';

/** A table under its final name; `optimizer` is null where nothing is trained. */
export interface PlannedTable {
  readonly name: string;
  readonly config: TableConfig;
  readonly optimizer: TPUEmbeddingOptimizer | null;
}

/** A feature of the whole batch. */
export interface PlannedFeature {
  /** Named in errors. */
  readonly path: string;
  readonly table: PlannedTable;
  /** Of its samples: activations have one axis more. */
  readonly outputShape: readonly number[];
}

/** A feature in its stack. */
export interface StackedFeaturePlan extends FeatureRows {
  readonly feature: PlannedFeature;
  /** Its place among all features. */
  readonly place: number;
  readonly layout: SparseCoreLayout;
}

export interface StackPlan {
  readonly name: string;
  readonly tables: readonly { readonly table: PlannedTable; readonly layout: SparseCoreLayout }[];
  readonly features: readonly StackedFeaturePlan[];
  /** Of all its features, over all cores. */
  readonly samples: number;
  readonly rowsPerShard: number;
  /** Padded. */
  readonly columns: number;
  readonly optimizer: TPUEmbeddingOptimizer | null;
  readonly quantization: QuantizationConfig | null;
}

export interface SparseCorePlan {
  readonly cores: Cores;
  readonly shards: number;
  readonly stacks: readonly StackPlan[];
  /** By table. */
  readonly layouts: ReadonlyMap<string, SparseCoreLayout>;
}

/** Tables of one group may share a stack: those whose optimizers are equal, and quantized alike. */
function groupsOf(tables: readonly PlannedTable[]): string[] {
  const optimizers: (TPUEmbeddingOptimizer | null)[] = [];
  return tables.map(({ optimizer, config }) => {
    let place = optimizers.findIndex((known) => known === optimizer || (known?.equals(optimizer) ?? false));
    if (place < 0) place = optimizers.push(optimizer) - 1;
    return `${place} ${String(config.quantizationConfig)}`;
  });
}

/** Samples of a feature, which must divide by the cores. */
function samplesOf({ path, outputShape }: PlannedFeature, shards: number): number {
  const samples = product(outputShape);
  if (samples % shards === 0) return samples;
  const expected = `a number of samples that is a multiple of ${shards}, the number of SparseCores`;
  throw new ValueError(path, expected, described(`${samples}, of shape [${outputShape.join(', ')}]`));
}

/** Where tables lie: as they were given, or stacked with others. `samples` of a whole batch are looked up in each. */
function layOut(
  tables: readonly PlannedTable[],
  samples: ReadonlyMap<string, number>,
  { chips, coresPerChip }: Cores,
  disableTableStacking: boolean,
): SparseCoreLayout[] {
  const groups = groupsOf(tables);
  const groupOf = (table: string): string => groups[tables.findIndex(({ name }) => name === table)]!;
  const given = givenLayouts(tables, { chips, coresPerChip }, groupOf);
  const others = tables.filter(({ config }) => config.layout === null);
  const made = stackTables({
    tables: others.map(({ name, config: { vocabularySize, dim } }) => {
      return { name, vocabularySize, dim, group: groupOf(name), samples: samples.get(name)! / chips };
    }),
    numPartitions: chips,
    sparseCoresPerPartition: coresPerChip,
    disableTableStacking,
  });
  for (const { tableName, stackedTableName: stack } of given) {
    if (!made.some((layout) => layout.stackedTableName === stack)) continue;
    const received = described(`${stack}, a stack of tables without layouts`);
    throw new ValueError(`layout of ${tableName}.stackedTableName`, 'a stack of tables with layouts', received);
  }
  return tables.map(({ name }) => [...given, ...made].find(({ tableName }) => tableName === name)!);
}

/**
 * Plans stacks; `known`: where tables lie already, whatever the number of samples. ValueError where samples do not divide
 * by the cores, and where these are no power of two.
 */
export function planStacks(
  tables: readonly PlannedTable[],
  features: readonly PlannedFeature[],
  cores: Cores,
  disableTableStacking: boolean,
  known: SparseCorePlan['layouts'] | null = null,
): SparseCorePlan {
  const shards = shardCount(cores.chips, cores.coresPerChip, 'numTpuChips');
  const samples = features.map((feature) => samplesOf(feature, shards));
  const ofTables = new Map(tables.map(({ name }) => [name, 0]));
  features.forEach(({ table: { name } }, i) => ofTables.set(name, ofTables.get(name)! + samples[i]!));
  const ordered = [...tables].sort((a, b) => (a.name < b.name ? -1 : 1));
  const layouts =
    known === null
      ? layOut(ordered, ofTables, cores, disableTableStacking)
      : ordered.map(({ name }) => known.get(name)!);
  const byName = new Map(layouts.map((layout) => [layout.tableName, layout]));
  const names = [...new Set(layouts.map(({ stackedTableName }) => stackedTableName))];
  const stacks = names.map((name): StackPlan => {
    const members = ordered
      .map((table, i) => ({ table, layout: layouts[i]! }))
      .filter(({ layout }) => layout.stackedTableName === name);
    let offset = 0;
    const ofStack: StackedFeaturePlan[] = [];
    features.forEach((feature, place) => {
      const layout = byName.get(feature.table.name)!;
      if (layout.stackedTableName !== name) return;
      const rows = { samples: samples[place]!, sampleOffset: offset, columns: feature.table.config.dim };
      ofStack.push({ feature, place, layout, ...rows });
      offset += rows.samples;
    });
    const [{ table, layout }] = members as [(typeof members)[number]];
    return {
      name,
      tables: members,
      features: ofStack,
      samples: offset,
      rowsPerShard: layout.totalRowsPerSparseCoreShard,
      columns: layout.unshardedPaddedShape[1],
      optimizer: table.optimizer,
      quantization: table.config.quantizationConfig,
    };
  });
  return { cores, shards, stacks, layouts: byName };
}
