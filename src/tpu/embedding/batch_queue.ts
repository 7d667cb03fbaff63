/** Batches between `enqueue`, `dequeue` and `applyGradients`, first in, first out, for each name. */
import { RuntimeError, described } from '../../base/errors.js';
import type { HostIds } from '../features/host_ids.js';
import type { TrainingStep } from './step_pipeline.js';
import type { FeatureLookup } from './table_lookups.js';

/** A batch that waits for `dequeue`. */
export interface WaitingBatch {
  readonly isTraining: boolean;
  readonly features: readonly FeatureLookup[];
}

/** The ids of one core that wait for those of the others. */
export interface CorePart {
  readonly isTraining: boolean;
  readonly ids: readonly HostIds[];
}

export class BatchQueue {
  readonly waiting: WaitingBatch[] = [];
  /** Training batches that were dequeued and have got no gradients yet. */
  readonly outstanding: TrainingStep[] = [];
  readonly #parts: CorePart[][];

  constructor(
    /** As in errors: empty for the queue without a name. */
    private readonly name: string,
    cores: number,
    /** How many training batches may wait for their gradients when another one is dequeued. */
    private readonly ahead: number,
  ) {
    this.#parts = Array.from({ length: cores }, () => []);
  }

  get #suffix(): string {
    return this.name === '' ? '' : ` of the queue ${JSON.stringify(this.name)}`;
  }

  /** Takes the part of one core; returns the parts of all cores once they are there. */
  addPart(core: number, part: CorePart): CorePart[] | null {
    this.#parts[core]!.push(part);
    if (this.#parts.some((parts) => parts.length === 0)) return null;
    return this.#parts.map((parts) => parts.shift()!);
  }

  /** The batch that `dequeue` is to give; it stays in the queue. */
  head(): WaitingBatch {
    const batch = this.waiting[0];
    if (batch === undefined) throw this.#nothingWaits();
    if (!batch.isTraining || this.outstanding.length <= this.ahead) return batch;
    throw new RuntimeError(
      'dequeue',
      `applyGradients${this.#suffix} for the training batches that were dequeued before`,
      described(`${this.outstanding.length} without gradients`),
      'Enqueue with training: false where no gradients follow.',
    );
  }

  #nothingWaits(): RuntimeError {
    const missing = this.#parts.flatMap((parts, core) => (parts.length === 0 ? [core] : []));
    const isPartial = missing.length < this.#parts.length;
    const received = isPartial
      ? `parts of a batch; those of ${missing.map((core) => `/device:TPU:${core}`).join(', ')} are missing`
      : 'no batch that waits';
    return new RuntimeError('dequeue', `an enqueue${this.#suffix} before it`, described(received));
  }

  /** The batch whose gradients come next; it stays. */
  due(): TrainingStep {
    const step = this.outstanding[0];
    if (step !== undefined) return step;
    const next = this.waiting[0];
    const note = next?.isTraining === true ? 'Call dequeue first.' : 'Enqueue with training: true, then dequeue.';
    throw new RuntimeError(
      'applyGradients',
      `a dequeue${this.#suffix} of a training batch before it`,
      described('no training batch that waits for gradients'),
      note,
    );
  }
}
