/** Tables of a layer on SparseCores, as `TPUEmbeddingV2` keeps them, for batches of any size. */
import * as tf from '@tensorflow/tfjs';
import type { DevicesBackend } from '../../backends/devices/devices_backend.js';
import { currentEmulator, emulatedMachine, isEmulated } from '../../backends/emulator/register.js';
import type { StackBatch } from '../../backends/sparse_core.js';
import type { SparseCoreEmbeddingConfig } from '../config/sparse_core_embedding_config.js';
import type { FeatureLookup } from '../embedding/table_lookups.js';
import { paddedBags, partitionBatch, stackBatch, withEmptyBags } from '../sparse_core/csr_batches.js';
import { extract, interleave } from '../sparse_core/interleave.js';
import { isPowerOfTwo, shardCount } from '../sparse_core/numbers.js';
import { planStacks, type SparseCorePlan } from '../sparse_core/stack_plan.js';
import { lookUpStacks, pendingSteps, stepStacks } from '../sparse_core/stack_steps.js';
import type { SparseCoreVariables } from '../sparse_core/stack_variables.js';
import type { EmbeddingTables } from '../tables/embedding_tables.js';
import type { CallGradients, Gradients, LayerCall, LayerTables, LookedUpCall } from './layer_tables.js';
import { StackedCopies } from './stacked_copies.js';

/** Whether tables can lie in stacks: on the emulator, where the number of its cores is a power of two. */
export function hasSparseCores(): boolean {
  return isEmulated() && isPowerOfTwo(currentEmulator('training').count);
}

/** Throws ValueError for another number of cores, as TPUEmbeddingV2. */
export function checkSparseCores(): void {
  const { chips, coresPerChip } = emulatedMachine('training');
  shardCount(chips, coresPerChip, 'chips');
}

/** Ids of some features as the CSR of every stack. */
interface StackedBatch {
  readonly plan: SparseCorePlan;
  readonly batches: ReadonlyMap<string, StackBatch>;
  /** Gives the memory of the CSR back. */
  readonly free: () => void;
}

/** Plans that are kept: those of the batches and the rests of a few data sets. */
const KEPT_PLANS = 32;

class StackedCall implements LayerCall {
  constructor(
    private readonly owner: SparseCoreTables,
    readonly features: readonly FeatureLookup[],
    readonly batch: StackedBatch,
  ) {}

  step(gradients: Gradients, others: readonly CallGradients[]): void {
    const features = [...this.features, ...others.flatMap(({ call }) => (call as StackedCall).features)];
    const all = [...gradients, ...others.flatMap((other) => other.gradients)];
    this.owner.step(features, all, others.length === 0 ? this.batch : null);
  }

  free(): void {
    this.batch.free();
  }
}

export class SparseCoreTables implements LayerTables {
  #copies: StackedCopies | null = null;
  readonly #plans = new Map<string, SparseCorePlan>();

  /** `paths`: of the features, for errors. */
  constructor(
    private readonly tables: EmbeddingTables,
    private readonly paths: readonly string[],
    private readonly config: SparseCoreEmbeddingConfig | null,
  ) {}

  lookUp(features: readonly FeatureLookup[], isTraining: boolean): LookedUpCall {
    const emulator = currentEmulator('lookup');
    const batch = this.#stacked(features, emulator);
    const { plan, batches } = batch;
    const activations = lookUpStacks(emulator, this.#variables(), batches, null);
    const pooled = new Array<tf.Tensor2D>(features.length);
    for (const stack of plan.stacks) {
      const rows = { cores: plan.shards, samples: stack.samples, columns: stack.columns };
      for (const feature of stack.features) {
        const bags = features[feature.place]!.bags.rowSplits.length - 1;
        const values = extract(feature, activations.get(stack.name)!, rows);
        pooled[feature.place] = tf.tensor2d(values.subarray(0, bags * feature.columns), [bags, feature.columns]);
      }
    }
    if (!isTraining) batch.free();
    return { pooled, call: isTraining ? new StackedCall(this, features, batch) : null };
  }

  /** Steps all tables; `known`: the batch of the features where it was made before. */
  step(features: readonly FeatureLookup[], gradients: Gradients, known: StackedBatch | null): void {
    const emulator = currentEmulator('step');
    const batch = known ?? this.#stacked(features, emulator);
    const { plan, batches } = batch;
    const { stacks } = this.#variables();
    const steps = plan.stacks.map((stack) => {
      const rows = { cores: plan.shards, samples: stack.samples, columns: stack.columns };
      const gradient = new Float32Array(stack.samples * stack.columns);
      for (const feature of stack.features) {
        const values = gradients[feature.place]?.dataSync<'float32'>();
        if (values !== undefined) interleave(feature, values, rows, gradient);
      }
      return { stack: stacks.get(stack.name)!, batch: batches.get(stack.name)!, gradient };
    });
    stepStacks(emulator, pendingSteps(steps));
    if (known === null) batch.free();
    this.#copies!.stepped();
  }

  #stacked(features: readonly FeatureLookup[], emulator: DevicesBackend): StackedBatch {
    this.#follow(emulator);
    const plan = this.#planOf(features, emulator);
    const bags = features.map((feature) => withEmptyBags(feature.bags, plan.shards));
    const partitioned = partitionBatch(plan, bags, this.config, 'none');
    const batches = plan.stacks.map((stack) => {
      return [stack.name, stackBatch(partitioned[stack.name]!, plan, stack, stack.name)] as const;
    });
    const free = (): void => Object.values(partitioned).forEach((csr) => csr.dispose());
    return { plan, batches: new Map(batches), free };
  }

  #variables(): SparseCoreVariables {
    return this.#copies!.current();
  }

  /** A plan for batches of this size; tables lie where the first batch has put them. */
  #planOf(features: readonly FeatureLookup[], emulator: DevicesBackend): SparseCorePlan {
    const { chips, coresPerChip } = emulatedMachine('training');
    const sizes = features.map(({ bags }) => paddedBags(bags.rowSplits.length - 1, chips * coresPerChip));
    const key = sizes.join();
    const known = this.#plans.get(key);
    if (known !== undefined) return known;
    const planned = features.map(({ table }, i) => {
      const path = this.paths[i % this.paths.length]!;
      return { path, table: this.tables.tables[table]!, outputShape: [sizes[i]!] };
    });
    const isApart = this.config?.disableTableStacking ?? false;
    const layouts = this.#copies?.plan.layouts ?? null;
    const plan = planStacks(this.tables.tables, planned, { chips, coresPerChip }, isApart, layouts);
    this.#copies ??= new StackedCopies(emulator, plan, this.tables);
    if (this.#plans.size >= KEPT_PLANS) this.#plans.delete(this.#plans.keys().next().value!);
    this.#plans.set(key, plan);
    return plan;
  }

  /** Leaves the copies on another machine. */
  #follow(emulator: DevicesBackend): void {
    if (this.#copies === null || this.#copies.emulator === emulator) return;
    this.settle();
    this.dispose();
  }

  /** Brings the variables of the tables up to date. */
  settle(): void {
    this.#copies?.settle();
  }

  /** Frees the copies; what they hold is lost, unless `settle` was called. */
  dispose(): void {
    this.#copies?.dispose();
    this.#copies = null;
    this.#plans.clear();
  }
}
