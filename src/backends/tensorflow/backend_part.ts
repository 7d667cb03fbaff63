/** What the `tensorflow` backend offers: custom ops where the addon has registered them, else stock ops composed. */
import * as tf from '@tensorflow/tfjs';
import { areKernelsWatched } from '../../tfjs/engine/watched_kernels.js';
import { warnOnce } from '../../base/warn_once.js';
import { PACKED_APPLY, SPARSE_APPLY, type SparseApplyFunction } from '../bag_tensors.js';
import { runOnEngine } from '../../tfjs/engine/engine_run.js';
import { genericBackendPart } from '../generic/register.js';
import type { BagOptions, KernelInfo } from '../kernel_set.js';
import type { LookedUp, Lookup } from '../lookup.js';
import { namedKernelSet, type BackendPart, type PackedPart } from '../registry.js';
import { embeddingBag, packedApplyInPlace, sparseApplyInPlace, type SparseApplyInputs } from './kernels.js';
import type { NodeBackend } from './node_backend.js';
import { backendFor } from './op_inputs.js';
import { apart, isApart, makeWritable } from './written_variables.js';
import type { StepOps } from '../step_ops.js';

/** The part of the native addon that this backend needs. */
export interface TensorFlowAddon {
  /** 'registered', 'already', or the reason why the ops cannot be registered in this process. */
  registerTensorFlow(): string;
}

/** What runs many tables, and other parts of a step, as one op each; it comes with the addon. */
export type StepKernels = Pick<
  Required<BackendPart>,
  'lookUp' | 'sparseApplyMany' | 'stepOps' | 'newTable' | 'readRows' | 'writeRows'
>;

export class TensorFlowPart implements BackendPart {
  private addon: TensorFlowAddon | null = null;
  private kernels: StepKernels | null = null;
  private registered = false;
  /** What brings the custom ops where there is no addon; null: that was said. */
  private remedy: string | null =
    "import 'tfjs-embeddings/node' in place of 'tfjs-embeddings' for native kernels, which `npx tfjs-embeddings setup` builds";

  connect(addon: TensorFlowAddon, kernels: StepKernels): void {
    this.addon ??= addon;
    this.kernels ??= kernels;
  }

  /** Takes from the Node entry why there is no addon; null: that was said. */
  lack(remedy: string | null): void {
    if (this.addon === null) this.remedy = remedy;
  }

  /** Whether the custom ops are there. Asked at every kernel call, as tfjs-node may be imported after this package. */
  hasOps(): boolean {
    if (this.registered) return true;
    if (this.addon === null) {
      if (this.remedy !== null) warnOnce(`the tensorflow backend runs stock ops: ${this.remedy}`);
      this.remedy = null;
      return false;
    }
    const answer = this.addon.registerTensorFlow();
    this.registered = answer === 'registered' || answer === 'already';
    if (!this.registered) {
      warnOnce(`the custom ops cannot run on the tensorflow backend, stock ops are used instead: ${answer}`);
    }
    return this.registered;
  }

  info(kernelName: string): KernelInfo {
    if (!this.hasOps()) return genericBackendPart.info(kernelName);
    const core = namedKernelSet('native')?.info(); // the ops and the native set are one library
    return {
      implementation: 'tensorflow',
      instructionSet: core?.instructionSet ?? 'unknown',
      threads: core?.threads ?? 1,
    };
  }

  get lookUpOne(): BackendPart['lookUpOne'] {
    return this.hasOps() && !areKernelsWatched() ? lookUpOne : undefined;
  }

  get lookUp(): BackendPart['lookUp'] {
    return this.hasOps() ? this.kernels?.lookUp : undefined;
  }

  get sparseApplyMany(): BackendPart['sparseApplyMany'] {
    return this.hasOps() ? this.kernels?.sparseApplyMany : undefined;
  }

  get stepOps(): StepOps | undefined {
    return this.hasOps() ? this.kernels?.stepOps : undefined;
  }

  /** tfjs-node holds a new tensor as the typed array that it was made of, and hands out that very array. */
  placeTable(table: tf.Variable): void {
    if (this.hasOps()) makeWritable(table);
  }

  newTable(shape: readonly number[]): tf.Tensor | null {
    return this.hasOps() ? this.kernels!.newTable(shape) : null;
  }

  writeRows(table: tf.Tensor, firstRow: number, values: Float32Array): boolean {
    return this.hasOps() && this.kernels!.writeRows(table, firstRow, values);
  }

  readRows(table: tf.Tensor, firstRow: number, into: Float32Array): boolean {
    return this.hasOps() && this.kernels!.readRows(table, firstRow, into);
  }

  readonly sparseApply: SparseApplyFunction = (optimizer, ...step) => {
    if (!this.hasOps()) return genericBackendPart.sparseApply(optimizer, ...step);
    const kernelName = SPARSE_APPLY[optimizer];
    stepInPlace(kernelName, {}, step, (backend, inputs, options) => {
      sparseApplyInPlace(backend, kernelName, optimizer, inputs, options);
    });
  };

  get packed(): PackedPart | undefined {
    return this.hasOps() ? PACKED_PART : undefined;
  }
}

function lookUpOne({ table, bags, options }: Lookup): LookedUp {
  const { values, rowSplits, weights } = bags;
  const inputs = { table: table as tf.Tensor, values, rowSplits, weights };
  return { pooled: embeddingBag(backendFor(inputs), inputs, options) as tf.Tensor2D, handle: null };
}

type Step = Parameters<SparseApplyFunction> extends [unknown, ...infer Rest] ? Rest : never;
type RunStep = (backend: NodeBackend, inputs: SparseApplyInputs, options: BagOptions & { hyper: Float32Array }) => void;

/** Steps buffers that nobody else sees; past the registry of kernels, which takes as long as small steps do. */
function stepInPlace(
  kernelName: string,
  attrs: object,
  [table, slots, gradient, bags, options, hyper]: Step,
  run: RunStep,
): void {
  makeWritable(table, slots);
  const { values, rowSplits, weights } = bags;
  const [slot0, slot1] = slots;
  const step = (ofBags: tf.Tensor2D, ofIds: tf.Tensor1D | null): void => {
    const inputs = { table, slot0, slot1, gradient: ofBags, values, rowSplits, weights: ofIds };
    if (areKernelsWatched()) return runOnEngine(kernelName, inputs, { ...attrs, ...options, hyper });
    run(backendFor(inputs), inputs, { ...options, hyper });
  };
  const written: readonly tf.Variable[] = slots.length === 0 ? [table] : [table, ...slots];
  if (isApart(gradient, written) && (weights === null || isApart(weights, written))) step(gradient, weights);
  else tf.tidy(() => step(apart(gradient, written), weights && apart(weights, written)));
}

const PACKED_PART: PackedPart = {
  apply: (optimizer, table, form, ...step) => {
    stepInPlace(PACKED_APPLY, { optimizer, ...form }, [table, ...step], (backend, inputs, options) => {
      packedApplyInPlace(backend, inputs, { ...options, ...form, optimizer });
    });
  },
  placeTable: (table) => {
    makeWritable(table);
  },
};
