/** Batches of features as those of stacks: the plan, once shapes are known, and what goes in and out by it. */
import * as tf from '@tensorflow/tfjs';
import type { HostBags } from '../../backends/kernel_set.js';
import type { StackBatch } from '../../backends/sparse_core.js';
import { ValueError, described, ArgumentTypeError, describe, RuntimeError } from '../../base/errors.js';
import type { SparseCoreEmbeddingConfig } from '../config/sparse_core_embedding_config.js';
import type { FeatureNest } from '../features/feature_nest.js';
import { partitionBatch, partitionCore, stackBatch, type Partitioned, joined } from './csr_batches.js';
import { readFeatureInput } from './csr/feature_input.js';
import { PartitionedCsrFormatTensor } from './csr/partitioned_csr.js';
import { extract, interleave } from './interleave.js';
import type { Cores } from './layouts.js';
import { knownShape, outputShapeOf } from './sample_shapes.js';
import { planStacks, type PlannedTable, type SparseCorePlan } from './stack_plan.js';
import type { StackGradient } from './stack_steps.js';
import type { SparseCoreVariables } from './stack_variables.js';
import { checkLive } from '../../base/live_tensor.js';
import { warnOnce } from '../../base/warn_once.js';

/** One batch, by core. */
class Batch {
  readonly parts: (Partitioned | undefined)[];
  constructor(cores: number) {
    this.parts = new Array<Partitioned | undefined>(cores).fill(undefined);
  }
}

class DeviceParts {
  /** Batches that some core still lacks, oldest first. */
  private waiting: Batch[] = [];
  private readonly batches = new WeakMap<PartitionedCsrFormatTensor, Batch>();

  constructor(private readonly cores: number) {}

  /** The part of a core goes to the first batch that lacks it. */
  add(core: number, part: Partitioned): void {
    let batch = this.waiting.find(({ parts }) => parts[core] === undefined);
    if (batch === undefined) this.waiting.push((batch = new Batch(this.cores)));
    batch.parts[core] = part;
    for (const csr of Object.values(part)) this.batches.set(csr, batch);
    this.waiting = this.waiting.filter(({ parts }) => parts.includes(undefined));
  }

  /** The whole batch that a part belongs to; what is no part comes back as it is. RuntimeError while a core lacks its own. */
  whole(partitioned: Partitioned): Partitioned {
    const batch = Object.values(partitioned)
      .map((csr) => this.batches.get(csr))
      .find((found) => found !== undefined);
    if (batch === undefined) return partitioned;
    const missing = batch.parts.flatMap((part, core) => (part === undefined ? [`/device:TPU:${core}`] : []));
    if (missing.length > 0) {
      const note = `enqueue(features, weights, {device}) is missing for ${missing.join(', ')}.`;
      throw new RuntimeError('dequeue', 'a batch of which every core has its part', described('one without'), note);
    }
    const parts = batch.parts as Partitioned[];
    return Object.fromEntries(
      Object.keys(partitioned).map((stack) => [stack, joined(parts.map((part) => part[stack]!))]),
    );
  }
}

/** The values of a gradient of this shape; null, with a warning, for none. */
function gradientValues(gradient: unknown, shape: readonly number[], path: string): Float32Array | null {
  if (gradient === null || gradient === undefined) {
    warnOnce(`${path} has no gradient: zeros are applied, which optimizers with momentum notice.`);
    return null;
  }
  if (!(gradient instanceof tf.Tensor)) {
    throw new ValueError(path, 'a tensor or null', described(`non-tensor type: ${describe(gradient)}`));
  }
  return floatValues(gradient, shape, path, `a float32 tensor of shape [${shape.join(', ')}], or null`);
}

function floatValues(tensor: unknown, shape: readonly number[], argument: string, expected: string): Float32Array {
  if (!(tensor instanceof tf.Tensor) || tensor.dtype !== 'float32') {
    throw new ArgumentTypeError(argument, expected, tensor);
  }
  checkLive(tensor as tf.Tensor, argument, expected);
  if (!tf.util.arraysEqual(tensor.shape, shape as number[])) throw new ValueError(argument, expected, tensor);
  return tensor.dataSync<'float32'>();
}

/** What there is once shapes are known. */
interface Planned {
  readonly plan: SparseCorePlan;
  /** Batches of which some cores lack their part. */
  readonly parts: DeviceParts;
}

export class BatchPlan {
  private planned: Planned | null = null;

  constructor(
    private readonly nest: FeatureNest,
    private readonly tables: ReadonlyMap<object, PlannedTable>,
    private readonly cores: Cores,
    private readonly config: SparseCoreEmbeddingConfig,
  ) {
    this.reset();
  }

  /** Plans where configs tell all shapes; else that waits for the first batch. Parts that wait are forgotten. */
  reset(): void {
    const shapes = this.nest.features.map(knownShape);
    this.planned = shapes.every((shape) => shape !== null) ? this.planFor(shapes) : null;
  }

  /** The plan. ValueError while shapes are not known. */
  of(argument: string): SparseCorePlan {
    if (this.planned !== null) return this.planned.plan;
    const note = 'Give every FeatureConfig an outputShape, or enqueue a batch first.';
    throw new ValueError(argument, 'output shapes that are known', described('unknown ones'), note);
  }

  /**
   * The CSR of each stack for a batch, or for the part of one core. Shapes that no config tells are those of the first
   * batch; where that is refused they stay unknown.
   */
  partition(inputs: readonly unknown[], weights: readonly unknown[], core: number | null): Partitioned {
    const { chips, coresPerChip } = this.cores;
    const count = core === null ? 1 : chips * coresPerChip;
    const planned = this.planned ?? this.planFor(this.shapesOf(inputs, count));
    const bags = this.readBags(planned, inputs, weights, count);
    const made = core === null ? partitionBatch : partitionCore;
    const partitioned = made(planned.plan, bags, this.config);
    this.planned = planned;
    if (core !== null) planned.parts.add(core, partitioned);
    return partitioned;
  }

  /** What `enqueue` gave, all cores together. ValueError for anything else; RuntimeError while a core lacks its part. */
  whole(value: unknown, argument: string): Partitioned {
    const { plan, parts } = this.planned!;
    const expected = 'a PartitionedCsrFormatTensor for each stack, by its name';
    if (typeof value !== 'object' || value === null) throw new ValueError(argument, expected, value);
    for (const { name } of plan.stacks) {
      const csr = (value as Record<string, unknown>)[name];
      if (!(csr instanceof PartitionedCsrFormatTensor)) throw new ValueError(`${argument}.${name}`, expected, csr);
      if (csr.isDisposed) throw new ValueError(`${argument}.${name}`, expected, described('one that was disposed'));
    }
    return parts.whole(value as Partitioned);
  }

  /** The same as devices take it, by stack. */
  batches(whole: Partitioned, argument: string): Map<string, StackBatch> {
    const plan = this.of(argument);
    return new Map(
      plan.stacks.map((stack) => {
        return [stack.name, stackBatch(whole[stack.name]!, plan, stack, `${argument}.${stack.name}`)];
      }),
    );
  }

  /** The activations of each feature, out of those of the stacks. */
  activations(ofStacks: ReadonlyMap<string, Float32Array>): tf.Tensor[] {
    const { stacks, shards } = this.of('dequeue');
    const features = new Array<tf.Tensor>(this.nest.features.length);
    for (const stack of stacks) {
      const rows = { cores: shards, samples: stack.samples, columns: stack.columns };
      for (const feature of stack.features) {
        const values = extract(feature, ofStacks.get(stack.name)!, rows);
        features[feature.place] = tf.tensor(values, [...feature.feature.outputShape, feature.columns], 'float32');
      }
    }
    return features;
  }

  /** The gradient of each stack, out of those of the features; null stands for zeros. */
  gradients(
    ofFeatures: readonly unknown[],
    batches: ReadonlyMap<string, StackBatch>,
    { stacks }: SparseCoreVariables,
  ): StackGradient[] {
    const { shards } = this.of('applyGradients');
    const paths = this.nest.paths('gradients');
    return [...stacks.values()].map((stack) => {
      const { plan } = stack;
      const rows = { cores: shards, samples: plan.samples, columns: plan.columns };
      const stacked = new Float32Array(plan.samples * plan.columns);
      for (const feature of plan.features) {
        const { place, columns } = feature;
        const values = gradientValues(ofFeatures[place], [...feature.feature.outputShape, columns], paths[place]!);
        if (values !== null) interleave(feature, values, rows, stacked);
      }
      return { stack, batch: batches.get(plan.name)!, gradient: stacked };
    });
  }

  private planFor(shapes: readonly (readonly number[])[]): Planned {
    const paths = this.nest.paths('features');
    const features = this.nest.features.map(({ table }, i) => {
      return { path: paths[i]!, table: this.tables.get(table)!, outputShape: shapes[i]! };
    });
    const plan = planStacks([...this.tables.values()], features, this.cores, this.config.disableTableStacking);
    return { plan, parts: new DeviceParts(plan.shards) };
  }

  /** The shapes of a whole batch, of which the inputs are one of so many parts. */
  private shapesOf(inputs: readonly unknown[], parts: number): (readonly number[])[] {
    const paths = this.nest.paths('features');
    return this.nest.features.map((config, i) => {
      const shape = outputShapeOf(config, inputs[i], paths[i]!);
      return knownShape(config) === null ? [shape[0]! * parts, ...shape.slice(1)] : shape;
    });
  }

  private readBags(
    { plan }: Planned,
    inputs: readonly unknown[],
    weights: readonly unknown[],
    parts: number,
  ): HostBags[] {
    const [paths, weightPaths] = [this.nest.paths('features'), this.nest.paths('weights')];
    const shapes = new Array<readonly number[]>(inputs.length);
    for (const { features } of plan.stacks) {
      for (const { place, feature } of features) {
        shapes[place] = feature.outputShape.map((length, axis) => (axis === 0 ? length / parts : length));
      }
    }
    return inputs.map((input, i) =>
      readFeatureInput(input, weights[i], shapes[i]!, { ids: paths[i]!, weights: weightPaths[i]! }),
    );
  }
}
