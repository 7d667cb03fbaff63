/** How many ids cores ask of each other. */
import { ArgumentTypeError } from '../../base/errors.js';
import { readOptions } from '../../base/options.js';
import type { HostBags } from '../../backends/kernel_set.js';
import { SparseCoreEmbeddingConfig } from '../config/sparse_core_embedding_config.js';
import { readOptimizer } from '../optimizers/optimizer_config.js';
import type { TPUEmbeddingOptimizer } from '../optimizers/tpu_optimizer.js';
import { configTables } from './config_tables.js';
import { stackOnCores, withEmptyBags } from './csr_batches.js';
import { FeatureNest } from '../features/feature_nest.js';
import { layerBags } from '../embedding/layer_bags.js';
import { paddedIds } from '../features/padded_ids.js';
import { readFeatureInput } from './csr/feature_input.js';
import type { Cores } from './layouts.js';
import { shardCount, wholeNumber } from './numbers.js';
import { bucketMaxima, type BucketMaxima } from './csr/partition_stack.js';
import { outputShapeOf } from './sample_shapes.js';
import { planStacks, type SparseCorePlan } from './stack_plan.js';

/** A config and the machine that it is meant for. */
export interface SparseCoreMachineArgs {
  featureConfig: unknown;
  numTpuChips: number;
  /** 4 by default. */
  numScPerChip?: number | undefined;
  optimizer?: TPUEmbeddingOptimizer | null | undefined;
  sparseCoreEmbeddingConfig?: SparseCoreEmbeddingConfig | null | undefined;
}

export interface SparseCoreStatsArgs extends SparseCoreMachineArgs {
  /** A whole batch, in the structure of `featureConfig`. */
  features: unknown;
}

/** By stack: the most ids, and the most different ids, that one core asks of another. */
export interface SparseCoreStats {
  readonly maxIds: Record<string, number>;
  readonly maxUniqueIds: Record<string, number>;
}

export const MACHINE_FIELDS = [
  'featureConfig',
  'numTpuChips',
  'numScPerChip',
  'optimizer',
  'sparseCoreEmbeddingConfig',
] as const;
const DEFAULT_CORES = 4;

/** Ids of some features, and the shapes of their samples. */
interface ReadBatch {
  readonly shapes: readonly (readonly number[])[];
  readonly bags: readonly HostBags[];
}

/** Batches of a config, counted without a backend. */
export class BatchStats {
  private readonly nest: FeatureNest;
  private readonly paths: readonly string[];
  private readonly cores: Cores;

  /** `isPadded`: batches are those of the layer, of any size and with negative ids that stand for nothing. */
  constructor(
    private readonly given: Partial<SparseCoreMachineArgs>,
    private readonly isPadded = false,
  ) {
    this.nest = new FeatureNest(given.featureConfig);
    this.paths = this.nest.paths('features');
    const { sparseCoreEmbeddingConfig: config } = given;
    if (config !== undefined && config !== null && !(config instanceof SparseCoreEmbeddingConfig)) {
      throw new ArgumentTypeError('sparseCoreEmbeddingConfig', 'an emb.tpu.SparseCoreEmbeddingConfig', config);
    }
    const chips = wholeNumber(given.numTpuChips, 'numTpuChips', 1);
    const coresPerChip = wholeNumber(given.numScPerChip ?? DEFAULT_CORES, 'numScPerChip', 1);
    shardCount(chips, coresPerChip, 'numTpuChips');
    this.cores = { chips, coresPerChip };
  }

  /** The plan for a batch, and its ids. */
  read(features: unknown): { readonly plan: SparseCorePlan; readonly bags: readonly HostBags[] } {
    const { given, nest, paths, cores } = this;
    const inputs = nest.flatten(features, 'features');
    const tables = configTables(nest.features, readOptimizer(given.optimizer));
    const { shapes, bags } = this.isPadded ? this.readPadded(inputs, cores) : this.readSamples(inputs);
    const planned = nest.features.map(({ table }, i) => {
      return { path: paths[i]!, table: tables.get(table)!, outputShape: shapes[i]! };
    });
    const isApart = given.sparseCoreEmbeddingConfig?.disableTableStacking ?? false;
    const plan = planStacks([...tables.values()], planned, cores, isApart);
    return { plan, bags };
  }

  private readSamples(inputs: readonly unknown[]): ReadBatch {
    const { nest, paths } = this;
    const shapes = nest.features.map((config, i) => outputShapeOf(config, inputs[i], paths[i]!));
    const bags = inputs.map((input, i) => {
      return readFeatureInput(input, null, shapes[i]!, { ids: paths[i]!, weights: 'weights' });
    });
    return { shapes, bags };
  }

  private readPadded(inputs: readonly unknown[], { chips, coresPerChip }: Cores): ReadBatch {
    const bags = this.nest.features.map((feature, i) => {
      const path = this.paths[i]!;
      const { vocabularySize: rows, name } = feature.table;
      const range = { rows, owner: name === null ? 'its table' : `table ${name}` };
      return withEmptyBags(layerBags(paddedIds(inputs[i], range, path), feature, path).bags, chips * coresPerChip);
    });
    return { shapes: bags.map(({ rowSplits }) => [rowSplits.length - 1]), bags };
  }

  /** The most that any core asks of another, by stack. */
  maxima(features: unknown): Map<string, BucketMaxima> {
    const { plan, bags } = this.read(features);
    const { chips, coresPerChip } = plan.cores;
    return new Map(
      plan.stacks.map((stack) => {
        const parts = Array.from({ length: chips }, (_, part) => {
          return bucketMaxima(stackOnCores(plan, stack, bags, { cores: coresPerChip, part, parts: chips }));
        });
        return [stack.name, parts.reduce(largest)];
      }),
    );
  }
}

/** The larger of each. */
export function largest(a: BucketMaxima, b: BucketMaxima): BucketMaxima {
  return {
    maxIds: Math.max(a.maxIds, b.maxIds),
    maxUniqueIds: Math.max(a.maxUniqueIds, b.maxUniqueIds),
    slotsPerSample: Math.max(a.slotsPerSample, b.slotsPerSample),
  };
}

/**
 * Returns, by stack, the most ids and the most different ids that one SparseCore asks of another for these features,
 * which hold a whole batch for `numTpuChips` x `numScPerChip` cores. Weights do not matter, configs are not changed, and
 * no backend is needed.
 * Throws as `TPUEmbeddingV2` and its `enqueue` do, but for limits.
 * Source: TPUEmbeddingV2.compute_sparse_core_stats (TensorFlow 2.21).
 */
export function computeSparseCoreStats(args: SparseCoreStatsArgs): SparseCoreStats {
  const given = readOptions<SparseCoreStatsArgs>(args, [...MACHINE_FIELDS, 'features'], 'args');
  const maxima = [...new BatchStats(given).maxima(given.features)];
  return {
    maxIds: Object.fromEntries(maxima.map(([stack, { maxIds }]) => [stack, maxIds])),
    maxUniqueIds: Object.fromEntries(maxima.map(([stack, { maxUniqueIds }]) => [stack, maxUniqueIds])),
  };
}
