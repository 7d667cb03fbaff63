/** The order of lookups and steps of stacks: one after the other, or overlapping by one step. */
import * as tf from '@tensorflow/tfjs';
import type { DevicesBackend } from '../../backends/devices/devices_backend.js';
import type { StackBatch } from '../../backends/sparse_core.js';
import { withoutTape } from '../../tfjs/lazy_gradient.js';
import type { Partitioned } from './csr_batches.js';
import { lookUpStacks, pendingSteps, stepStacks, type PendingStep, type StackGradient } from './stack_steps.js';
import type { SparseCoreVariables } from './stack_variables.js';

/** With pipelining a step waits for the next lookup, which reads the tables as they were before it. */
export class StackPipeline {
  private pending: { readonly steps: PendingStep[]; readonly letGo: () => void } | null = null;
  /** Tables as they were before a step that had to be made early: what the next lookup reads. */
  private stale: ReadonlyMap<string, tf.Tensor> | null = null;

  constructor(
    private readonly emulator: DevicesBackend,
    private readonly isPipelined: boolean,
  ) {}

  /** The activations of each stack, core after core; then makes the step that waits. */
  lookUp(variables: SparseCoreVariables, batches: ReadonlyMap<string, StackBatch>): Map<string, Float32Array> {
    const activations = lookUpStacks(this.emulator, variables, batches, this.stale);
    this.dropStale();
    this.stepPending();
    return activations;
  }

  /** Steps the stacks, now or after the next lookup; dynamic learning rates are asked now. */
  apply(gradients: readonly StackGradient[], preserved: Partitioned): void {
    const steps = pendingSteps(gradients);
    this.stepPending();
    const releases = Object.values(preserved).map((csr) => csr.hold());
    this.pending = { steps, letGo: () => releases.forEach((release) => release()) };
    if (!this.isPipelined) this.stepPending();
  }

  /** Makes the step that waits, so that the tables can be read; the next lookup still reads them as they were. */
  settle({ stacks }: SparseCoreVariables): void {
    if (this.pending === null) return;
    const tables = new Map(
      [...stacks].map(([name, { parameters }]) => [name, tf.keep(withoutTape(() => tf.clone(parameters)))]),
    );
    this.stepPending();
    this.dropStale();
    this.stale = tables;
  }

  /** The next lookup reads the tables as they are: they were written from outside. */
  catchUp(): void {
    this.dropStale();
  }

  /** Forgets all that waits. */
  dispose(): void {
    this.dropStale();
    this.pending?.letGo();
    this.pending = null;
  }

  private dropStale(): void {
    tf.dispose([...(this.stale?.values() ?? [])]);
    this.stale = null;
  }

  private stepPending(): void {
    const { pending } = this;
    this.pending = null;
    if (pending === null) return;
    try {
      stepStacks(this.emulator, pending.steps);
    } finally {
      pending.letGo();
    }
  }
}
