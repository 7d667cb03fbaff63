/** What is measured, for Prometheus and for the curves of the page. */
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { StepResult } from './learner.js';

/** A point of the curves. */
export interface Point {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly events: number;
  readonly loss: number;
  readonly auc: number | null;
  readonly recall: number;
}

/** Points that the page shows. */
const SHOWN = 600;
/** Milliseconds that a point stands for. */
const SPAN = 1000;

export class Gauges {
  readonly registry = new Registry();
  readonly #points: Point[] = [];
  #sum = { from: 0, events: 0, loss: 0, auc: 0, aucEvents: 0, recall: 0 };
  readonly accepted = this.#counter('online_events_accepted_total', 'Events that were kept.');
  readonly learned = this.#counter('online_events_learned_total', 'Events that were learned by this process.');
  readonly steps = this.#counter('online_steps_total', 'Steps of training.');
  readonly waiting = this.#gauge('online_events_waiting', 'Events that are kept and not learned yet.');
  readonly batch = this.#gauge('online_model_batch', 'Batches that the served snapshot has learned.');
  readonly age = this.#gauge('online_snapshot_age_seconds', 'Age of the served snapshot.');
  readonly auc = this.#gauge('online_progressive_auc', 'AUC of the last second, before its events were learned.');
  readonly recall = this.#gauge(
    'online_progressive_recall_at_10',
    'Recall@10 among the items of a step, of the last second.',
  );
  readonly loss = this.#gauge('online_loss', 'Loss of the last second.');
  readonly checkpoints = this.#gauge('online_checkpoint_seconds', 'How long the last checkpoint took.');
  readonly answers = new Histogram({
    name: 'online_request_seconds',
    help: 'Time to answer a request.',
    labelNames: ['route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1],
    registers: [this.registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

  #counter(name: string, help: string): Counter {
    return new Counter({ name, help, registers: [this.registry] });
  }

  #gauge(name: string, help: string): Gauge {
    return new Gauge({ name, help, registers: [this.registry] });
  }

  /** Counts a step. */
  step({ loss, auc, recall }: StepResult, events: number): void {
    this.learned.inc(events);
    this.steps.inc();
    const now = Date.now();
    if (now - this.#sum.from >= SPAN) this.#close(now);
    this.#sum.events += events;
    this.#sum.loss += events * loss;
    this.#sum.recall += events * recall;
    if (auc !== null) {
      this.#sum.auc += events * auc;
      this.#sum.aucEvents += events;
    }
  }

  #close(now: number): void {
    const { events, loss, auc, aucEvents, recall } = this.#sum;
    if (events > 0) {
      const found = {
        events,
        loss: loss / events,
        auc: aucEvents === 0 ? null : auc / aucEvents,
        recall: recall / events,
      };
      this.#points.push({ at: now, ...found });
      if (this.#points.length > SHOWN) this.#points.shift();
      if (found.auc !== null) this.auc.set(found.auc);
      this.recall.set(found.recall);
      this.loss.set(found.loss);
    }
    this.#sum = { from: now, events: 0, loss: 0, auc: 0, aucEvents: 0, recall: 0 };
  }

  /** The newest points, the oldest first. */
  get points(): readonly Point[] {
    return this.#points;
  }
}
