/** Learns the events of a store, each once and in their order, whatever happens to the process. */
import * as tf from '@tensorflow/tfjs';
import { loadNewest, saveCheckpoint, type Position } from './checkpoints.js';
import type { Event } from './event.js';
import { learn, type StepResult } from './learner.js';
import type { Options } from './options.mjs';
import type { Batch, EventStore } from './stores/event_store.js';
import { buildTowers, compiled } from './towers.js';

export type TrainerOptions = Pick<
  Options,
  'dim' | 'users' | 'items' | 'rate' | 'temperature' | 'seed' | 'history' | 'batch'
>;

/** Recorded batches that are read at a time. */
const RECORDED = 256;

export class Trainer {
  #position: Position;

  private constructor(
    readonly store: EventStore,
    readonly folder: string,
    readonly towers: tf.LayersModel,
    position: Position,
    private readonly options: TrainerOptions,
  ) {
    this.#position = position;
  }

  /** Goes on from the newest checkpoint, or begins; what was learned after the checkpoint is learned again by `catchUp`. */
  static async open(
    store: EventStore,
    folder: string,
    options: TrainerOptions,
    say: (line: string) => void,
  ): Promise<Trainer> {
    const found = await loadNewest(folder, say);
    if (found !== null) {
      return new Trainer(store, folder, compiled(found.towers, options), found.position, options);
    }
    const trainer = new Trainer(store, folder, buildTowers(options), { batch: 0, event: 0 }, options);
    await trainer.checkpoint();
    return trainer;
  }

  /** A model that has learned nothing, for the batches of a store. */
  static begin(store: EventStore, options: TrainerOptions): Trainer {
    return new Trainer(store, '', buildTowers(options), { batch: 0, event: 0 }, options);
  }

  get position(): Position {
    return this.#position;
  }

  /** Learns the recorded batches after the position, up to `last`; returns how many. */
  async catchUp(learned: (result: StepResult, events: number) => void, last = Infinity): Promise<number> {
    const from = this.#position.batch;
    for (;;) {
      const batches = await this.store.batchesFrom(this.#position.batch + 1, RECORDED);
      for (const batch of batches) {
        if (batch.number > last) return this.#position.batch - from;
        const events = await this.store.eventsAfter(batch.after, batch.last - batch.after);
        await this.#learn(
          batch,
          events.filter(({ id }) => id <= batch.last),
          learned,
        );
      }
      if (batches.length === 0) return this.#position.batch - from;
    }
  }

  /** Learns the next events where there are enough for a batch, or `isLate`; returns how many. */
  async step(isLate: boolean, learned: (result: StepResult, events: number) => void): Promise<number> {
    const { event: after, batch: number } = this.#position;
    const events = await this.store.eventsAfter(after, this.options.batch);
    if (events.length === 0 || (events.length < this.options.batch && !isLate)) return 0;
    const batch: Batch = { number: number + 1, after, last: events.at(-1)!.id };
    // Recorded first: a process that is killed while it learns learns the same events together again.
    await this.store.record(batch);
    await this.#learn(batch, events, learned);
    return events.length;
  }

  async #learn(
    { number, after, last }: Batch,
    events: readonly Event[],
    learned: (result: StepResult, events: number) => void,
  ): Promise<void> {
    if (number !== this.#position.batch + 1 || after !== this.#position.event) {
      const expected = `batch ${this.#position.batch + 1} after event ${this.#position.event}`;
      throw new Error(`the store goes on with batch ${number} after event ${after}, the model with ${expected}`);
    }
    const histories = await this.store.historiesOf(events, this.options.history);
    const result = await learn(this.towers, events, histories);
    this.#position = { batch: number, event: last };
    learned(result, events.length);
  }

  /** Keeps the model as it is. */
  async checkpoint(): Promise<void> {
    await saveCheckpoint(this.folder, this.towers, this.#position);
  }

  dispose(): void {
    const { optimizer } = this.towers;
    this.towers.dispose();
    optimizer?.dispose();
  }
}

/** A checksum of all that a model has learned, rows and slots: equal models have equal ones. */
export async function fingerprintOf(towers: tf.LayersModel): Promise<string> {
  const hash = (await import('node:crypto')).createHash('sha256');
  let artifacts: tf.io.ModelArtifacts | null = null;
  await towers.save(
    tf.io.withSaveHandler(async (found) => {
      artifacts = found;
      return { modelArtifactsInfo: { dateSaved: new Date(), modelTopologyType: 'JSON' as const } };
    }),
    { includeOptimizer: true },
  );
  const { weightData } = artifacts! as tf.io.ModelArtifacts;
  for (const part of Array.isArray(weightData) ? weightData : [weightData!]) hash.update(new Uint8Array(part));
  return hash.digest('hex');
}
