/** A training that can stop after any step and go on from there, with the same steps as one that never stopped. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import type { Point, Run, Settings } from '../protocol.js';
import { Network, buildNetwork, type Features } from './network.js';
import type { Rows } from './rows.js';

const SHUFFLED = 16_384;
/** Rows held back that judge an epoch, at most. */
const JUDGED = 4096;
const JUDGED_BATCH = 512;
/** Points of a curve; then each two become one. */
const MOST_POINTS = 400;
const FIRST_WINDOW = 4;
/** How long the worker hears nothing. */
const BREATH_MS = 40;
const TELL_MS = 200;
const RECALL_K = 20;

/** Where a training is, as plain values. */
export interface Position {
  readonly epoch: number;
  /** Batches of the epoch that are done. */
  readonly batches: number;
  readonly step: number;
  readonly losses: readonly Point[];
  readonly held: readonly Point[];
  readonly score: Run['score'];
  /** Steps that one point stands for, and the losses that wait for theirs. */
  readonly window: number;
  readonly waiting: readonly number[];
}

const START: Position = {
  epoch: 0,
  batches: 0,
  step: 0,
  losses: [],
  held: [],
  score: null,
  window: FIRST_WINDOW,
  waiting: [],
};

const breathe = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));
const mean = (numbers: readonly number[]): number => numbers.reduce((sum, x) => sum + x, 0) / numbers.length;

/** Each two points as one. */
function thinned(points: readonly Point[]): Point[] {
  const pairs = Array.from({ length: points.length >> 1 }, (_, i) => [points[2 * i]!, points[2 * i + 1]!] as const);
  return pairs.map(([a, b]) => ({ step: b.step, loss: (a.loss + b.loss) / 2 }));
}

export interface Listener {
  /** Told a few times a second; the next step waits for it. */
  onProgress(run: Omit<Run, 'id' | 'name'>): Promise<void>;
  /** After each epoch. */
  onEpoch(): Promise<void>;
}

export class Training {
  readonly network: Network;
  #position: Position;
  #isPaused = false;
  /** Of the epoch, as far as the rows were read. */
  #progress = 0;
  #pace = { since: 0, steps: 0, perSecond: 0 };

  /** `model` and `position`: those of a training that goes on. */
  constructor(
    readonly rows: Rows,
    readonly settings: Settings,
    model: tf.LayersModel | null = null,
    position: Position = START,
  ) {
    this.network = new Network(model ?? buildNetwork(rows, settings), rows.schema);
    this.#position = position;
  }

  get position(): Position {
    return this.#position;
  }

  /** Stops after the step that runs now. */
  pause(): void {
    this.#isPaused = true;
  }

  /** Told which share of the file has been read. */
  read(share: number): void {
    this.#progress = share;
  }

  summary(): Omit<Run, 'id' | 'name'> {
    const { epoch, step, losses, held, score } = this.#position;
    const { epochs } = this.settings;
    const state = epoch >= epochs ? 'done' : this.#isPaused ? 'paused' : 'training';
    const progress = state === 'done' ? 1 : this.#progress;
    return { losses, held, score, state, epoch, epochs, progress, step, stepsPerSecond: this.#pace.perSecond };
  }

  /** Trains to the end, or until it is paused. */
  async run(listener: Listener): Promise<void> {
    this.#isPaused = false;
    this.#pace = { since: performance.now(), steps: 0, perSecond: 0 };
    while (this.#position.epoch < this.settings.epochs && !this.#isPaused) await this.#epoch(listener);
    await listener.onProgress(this.summary());
  }

  async #epoch(listener: Listener): Promise<void> {
    const { rows, settings } = this;
    const { epoch, batches } = this.#position;
    const { size } = rows.train.batch(settings.batch);
    // Another order in each epoch, the same one when it goes on.
    const shuffled = rows.train.shuffle(SHUFFLED, SHUFFLED * (1 + epoch));
    const dropRemainder = rows.schema.task === 'choice';
    let [breath, told] = [performance.now(), performance.now()];
    for await (const batch of shuffled.batch(settings.batch, { dropRemainder }).skip(batches)) {
      await this.#step(batch);
      if (size !== null) this.#progress = this.#position.batches / size;
      const now = performance.now();
      if (now - told > TELL_MS) {
        this.#measure(now);
        await listener.onProgress(this.summary());
        told = performance.now();
      }
      if (now - breath > BREATH_MS) {
        await breathe();
        breath = performance.now();
      }
      if (this.#isPaused) return;
    }
    if (this.#position.step === 0) throw new Error('There are too few rows for one batch: choose smaller batches.');
    const { loss, score } = await this.#judge();
    const { held, step } = this.#position;
    this.#position = {
      ...this.#position,
      epoch: epoch + 1,
      batches: 0,
      held: loss === null ? held : [...held, { step, loss }],
      score,
    };
    this.#progress = 0;
    await listener.onEpoch();
  }

  async #step({ features, label }: emb.data.DatasetElement): Promise<void> {
    const wanted = (label ?? features[this.network.item.input]) as tf.Tensor;
    const loss = (await this.network.model.trainOnBatch(features as never, wanted)) as number;
    tf.dispose([...Object.values(features), label].filter((each) => each instanceof tf.Tensor));
    if (!Number.isFinite(loss)) throw new Error('The loss is no number any more: choose a smaller learning rate.');
    this.#pace.steps += 1;
    const { step, batches, waiting, window, losses } = this.#position;
    const next = { ...this.#position, step: step + 1, batches: batches + 1, waiting: [...waiting, loss] };
    if (next.waiting.length < window) return void (this.#position = next);
    const points = [...losses, { step: next.step, loss: mean(next.waiting) }];
    const isFull = points.length >= MOST_POINTS;
    const curve = isFull ? { losses: thinned(points), window: 2 * window } : { losses: points };
    this.#position = { ...next, waiting: [], ...curve };
  }

  #measure(now: number): void {
    const { since, steps } = this.#pace;
    if (now - since < 1000) return;
    this.#pace = { since: now, steps: 0, perSecond: (1000 * steps) / (now - since) };
  }

  /** The loss and the score of rows that are held back; null where there are too few. */
  async #judge(): Promise<{ loss: number | null; score: Run['score'] }> {
    const { model, schema } = this.network;
    const losses: number[] = [];
    const judge = judgeOf(this.network);
    for await (const { features, label } of this.rows.held.take(JUDGED).batch(JUDGED_BATCH)) {
      const wanted = (label ?? features[this.network.item.input]) as tf.Tensor;
      const found = model.predictOnBatch(features as never) as tf.Tensor;
      // Of choices among the items of a batch, which is harder in a larger one: a last smaller one would not compare.
      const isWhole = schema.task !== 'choice' || wanted.shape[0] === JUDGED_BATCH || losses.length === 0;
      if (isWhole) losses.push(lossOf(model, wanted, found));
      judge.add(features as never, wanted, found);
      tf.dispose([found, ...Object.values(features), label].filter((each) => each instanceof tf.Tensor));
      await breathe();
    }
    if (losses.length === 0) return { loss: null, score: null };
    return { loss: mean(losses), score: { name: judge.name, value: judge.result() } };
  }
}

function lossOf(model: tf.LayersModel, wanted: tf.Tensor, found: tf.Tensor): number {
  const [loss] = (model as unknown as { lossFunctions: ((y: tf.Tensor, p: tf.Tensor) => tf.Tensor)[] }).lossFunctions;
  return tf.tidy(() => loss!(wanted, found).mean().dataSync()[0]!);
}

interface Judge {
  readonly name: string;
  add(features: Features, wanted: tf.Tensor, found: tf.Tensor): void;
  result(): number;
}

/** What rows are judged by: how well chances are ranked, how far numbers are off, how often the item is among the best. */
function judgeOf(network: Network): Judge {
  const { task } = network.schema;
  if (task === 'chance') {
    const auc = emb.metrics.auc();
    return { name: 'AUC', add: (_, wanted, found) => auc.updateState(wanted, found), result: () => auc.result() };
  }
  let [sum, count] = [0, 0];
  if (task === 'number') {
    const add = (wanted: tf.Tensor, found: tf.Tensor): void => {
      sum += tf.tidy(() => found.sub(wanted).square().sum().dataSync()[0]!);
      count += wanted.shape[0]!;
    };
    return { name: 'RMSE', add: (_, wanted, found) => add(wanted, found), result: () => Math.sqrt(sum / count) };
  }
  const add = (features: Features, wanted: tf.Tensor): void => {
    const ids = wanted.dataSync();
    network.best(features, RECALL_K).forEach((best, i) => (sum += best.ids.includes(ids[i]!) ? 1 : 0));
    count += ids.length;
  };
  return { name: `recall@${RECALL_K}`, add: (features, wanted) => add(features, wanted), result: () => sum / count };
}
