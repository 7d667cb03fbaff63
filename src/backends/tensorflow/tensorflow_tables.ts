/** What the backend `tensorflow` does for tables: custom ops where the addon has registered them, else stock ops. */
import * as tf from '@tensorflow/tfjs';
import { areKernelsWatched } from '../../tfjs/engine/watched_kernels.js';
import { warnOnce } from '../../base/warn_once.js';
import type { Backend, LookedUp, Lookup, RowStore, TableUpdate } from '../contract.js';
import { genericTables } from '../generic/register.js';
import { memoryStore, type RowMemory } from '../stores/memory_store.js';
import {
  joinedUpdates,
  type JoinedUpdate,
  KERNEL_GRADIENTS,
  lookUpByKernel,
  dispatchLookups,
  stepByKernel,
} from '../kernel_calls.js';
import { optionsFor } from '../bag_tensors.js';
import type { KernelInfo } from '../kernel_set.js';
import { namedKernelSet } from '../registry.js';
import type { Table } from '../table.js';
import type { StepOps } from '../step_ops.js';
import { embeddingBag, sparseApplyInPlace } from './kernels.js';
import { asNodeBackend } from './node_backend.js';
import { backendFor, checkInput } from './op_inputs.js';
import { Ownership } from './ownership.js';

/** The part of the native addon that this backend needs. */
export interface TensorFlowAddon {
  /** 'registered', 'already', or the reason why the ops cannot be registered in this process. */
  registerTensorFlow(): string;
}

/** What runs many tables, and other parts of a step, as one op each; it comes with the addon. */
export interface WholeOps {
  lookUp(lookups: readonly Lookup[]): LookedUp[];
  /** Steps float32 tables of one optimizer in place; their buffers have no other holders, what is read lies apart. */
  step(updates: readonly JoinedUpdate[]): void;
  readonly ops: StepOps;
  readonly memory: Pick<RowMemory, 'zeros' | 'isWritable' | 'write' | 'writeAt' | 'read'>;
}

/** Gives a table and its slots buffers with no other holders. */
function makeWritable(table: tf.Variable, slots: readonly tf.Variable[] = []): void {
  const backend = asNodeBackend(tf.backend());
  checkInput(backend, table, 'table');
  for (let i = 0; i < slots.length; i++) checkInput(backend, slots[i], `slots[${i}]`);
  const ownership = Ownership.of(backend);
  ownership.makeWritable(table);
  for (const slot of slots) ownership.makeWritable(slot);
}

/** A tensor that is read, or a copy where it is one of those that are written: an op refuses to do both. */
function apart<T extends tf.Tensor>(tensor: T, written: readonly tf.Variable[]): T {
  if (written.every((variable) => variable.dataId !== tensor.dataId)) return tensor;
  return asNodeBackend(tf.backend()).executeSingleOutput('EmbeddingCopy', [], [tensor]) as T;
}

const isPlain = (table: Table): boolean => table.isPlain;

function lookUpOne({ table, bags, options }: Lookup): LookedUp {
  const { values, rowSplits, weights } = bags;
  const inputs = { table: table.tensor, values, rowSplits, weights };
  const pooled = embeddingBag(backendFor(inputs), inputs, optionsFor(table, options));
  return { pooled: pooled as tf.Tensor2D, handle: null };
}

/** Steps one table; past the registry of kernels, which takes as long as small steps do. */
function stepOne(update: JoinedUpdate): void {
  if (areKernelsWatched()) return stepByKernel(update);
  const { optimizer, table, slots, entries, options, hyper } = update;
  const { gradient, bags } = entries[0]!;
  const { values, rowSplits, weights } = bags;
  const inputs = { table: table.variable, slots, gradient, values, rowSplits, weights };
  const backend = backendFor({ table: table.tensor, gradient, values, rowSplits, weights });
  sparseApplyInPlace(backend, optimizer, inputs, { ...optionsFor(table, options), hyper });
}

export class TensorFlowTables implements Backend {
  private addon: TensorFlowAddon | null = null;
  private whole: WholeOps | null = null;
  private inPlace: RowStore | null = null;
  private registered = false;
  /** What brings the custom ops where there is no addon; null: that was said. */
  private remedy: string | null =
    "import 'tfjs-embeddings/node' in place of 'tfjs-embeddings' for native kernels, which `npx tfjs-embeddings setup` builds";

  connect(addon: TensorFlowAddon, whole: WholeOps): void {
    this.addon ??= addon;
    this.whole ??= whole;
    this.inPlace ??= memoryStore({ ...IN_PLACE, ...whole.memory });
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
    if (!this.hasOps()) return genericTables.info(kernelName);
    const core = namedKernelSet('native')?.info(); // the ops and the native set are one library
    return {
      implementation: 'tensorflow',
      instructionSet: core?.instructionSet ?? 'unknown',
      threads: core?.threads ?? 1,
    };
  }

  lookUp(lookups: readonly Lookup[]): LookedUp[] {
    if (!this.hasOps()) return genericTables.lookUp(lookups);
    // An op has tables of one type.
    return dispatchLookups(this.whole!.lookUp, lookups, areKernelsWatched() ? lookUpByKernel : lookUpOne, isPlain);
  }

  step(updates: readonly TableUpdate[]): void {
    if (!this.hasOps()) return genericTables.step(updates);
    tf.tidy(() => {
      for (const group of joinedUpdates(updates, this.gradient, isPlain)) {
        for (const { table, slots } of group) makeWritable(table.variable, slots);
        const written = group.flatMap(({ table, slots }) => [table.variable, ...slots]);
        const read = group.map((update): JoinedUpdate => {
          const entries = update.entries.map(({ gradient, bags }) => {
            return {
              gradient: apart(gradient, written),
              bags: { ...bags, weights: bags.weights && apart(bags.weights, written) },
            };
          });
          return { ...update, entries };
        });
        if (read.length > 1 || read[0]!.entries.length > 1) this.whole!.step(read);
        else stepOne(read[0]!);
      }
    });
  }

  readonly gradient = KERNEL_GRADIENTS;

  get ops(): StepOps | null {
    return this.hasOps() ? this.whole!.ops : null;
  }

  get store(): RowStore {
    return this.hasOps() ? this.inPlace! : genericTables.store;
  }
}

const IN_PLACE = {
  /** TensorFlow keeps its memory to itself. */
  view: () => null,
  /** tfjs-node holds a new tensor as the typed array that it was made of, and hands out that very array. */
  place: (table: tf.Variable) => makeWritable(table),
};
