/** The kinds of steps of one model: those that were used last, with their graphs. */
import type { Purpose } from './steps.js';
import type { EagerStep, StepData } from '../tfjs/training/step_runner.js';
import type { OpenPlaces } from './recorder.js';
import type { Recording } from './recording.js';
import type { HeldGraph, StepGraph } from './step_graph.js';
import type { WatchedFields } from './watched_fields.js';

/** A step that is to run. */
export interface GivenStep {
  readonly purpose: Purpose;
  /** Runs it op by op. */
  readonly eager: EagerStep;
  readonly data: StepData;
  /** Where the data have any number of rows. */
  readonly open?: OpenPlaces | undefined;
  /** What makes it of one kind with others: `kindOf` its data, and what else does. */
  readonly kind: string;
  /** Whether it would still be of that kind. */
  readonly holds?: () => boolean;
}

/** What makes data of one kind: shapes, dtypes, and which tensors are the same; how many rows a data set has is no matter. */
export function kindOf(data: StepData, open?: OpenPlaces): string {
  const seen: object[] = [];
  return data
    .map((tensor, place) => {
      if (tensor === null || tensor === undefined) return '-';
      const same = seen.indexOf(tensor);
      seen.push(tensor);
      const sizes: unknown[] = open?.has(place) === true ? ['rows', ...tensor.shape.slice(1)] : tensor.shape;
      return `${sizes.join('x')}${tensor.dtype[0]}${same < 0 ? '' : same}`;
    })
    .join();
}

/** What a user's promise about a step is checked by. */
export interface StepPromise {
  /** The recording of which the graph was made. */
  readonly recording: Recording;
  /** The step that ran last. */
  readonly last: GivenStep;
  /** The last step that was compared. */
  readonly verified: number;
}

/** Steps of one kind: of one purpose, batches of these shapes, these variables trainable. */
export interface Signature {
  readonly purpose: Purpose;
  /** Steps so far, however they ran. */
  steps: number;
  /** Steps that ran op by op since the last graph. */
  runs: number;
  /** Null: all that the step reaches is known. */
  promise: StepPromise | null;
  recording: Recording | null;
  /** The data of that recording. */
  recorded: StepData;
  graph: StepGraph | null;
  watched: WatchedFields | null;
  /** What was found, with these fields, that is not known; null: nothing. */
  unknown: string | null;
  /** How often a recording or a graph was given up because a field changed. */
  changes: number;
  refused: string | null;
}

/** Kinds of steps that a model has for each purpose: a graph holds memory. */
export const MOST_SIGNATURES = 16;

/** The graphs of a model, apart from it and all that it reaches, so that they can be released when it is gone. */
export class GraphList {
  readonly graphs = new Set<HeldGraph>();

  release(): void {
    for (const graph of this.graphs) graph.release();
    this.graphs.clear();
  }
}

export class Signatures {
  /** Kinds of steps that gave way to others. */
  evictions = 0;
  /** The one that was used last comes last. */
  readonly #found = new Map<string, Signature>();

  constructor(private readonly list: GraphList) {}

  /** Why a step of some kind was refused; null: none was. */
  get refused(): string | null {
    return [...this.#found.values()].find(({ refused }) => refused !== null)?.refused ?? null;
  }

  /** The signature of a step; a new one takes the place of that which was not used for longest. */
  of(purpose: Purpose, kind: string): Signature {
    const key = `${purpose} ${kind}`;
    const known = this.#found.get(key);
    if (known === undefined) this.#makeRoom(purpose);
    else this.#found.delete(key);
    const none = {
      recording: null,
      recorded: [],
      graph: null,
      watched: null,
      unknown: null,
      refused: null,
      promise: null,
    };
    const found: Signature = known ?? { purpose, steps: 0, runs: 0, changes: 0, ...none };
    this.#found.set(key, found);
    return found;
  }

  /** The signature of a step, where there is one. */
  known(purpose: Purpose, kind: string): Signature | undefined {
    return this.#found.get(`${purpose} ${kind}`);
  }

  ofPurpose(purpose: Purpose): Signature[] {
    return [...this.#found.values()].filter((signature) => signature.purpose === purpose);
  }

  #makeRoom(purpose: Purpose): void {
    const kinds = [...this.#found].filter(([, signature]) => signature.purpose === purpose);
    if (kinds.length < MOST_SIGNATURES) return;
    const [key, oldest] = kinds[0]!;
    this.#found.delete(key);
    this.release(oldest);
    // A kind that runs op by op for a reason of its own lost nothing.
    if (oldest.refused === null) this.evictions += 1;
  }

  setGraph(signature: Signature, graph: StepGraph): void {
    signature.graph = graph;
    this.list.graphs.add(graph.held);
  }

  /** Gives up the graph of a kind. */
  release(signature: Signature): void {
    if (signature.graph === null) return;
    signature.graph.held.release();
    this.list.graphs.delete(signature.graph.held);
    signature.graph = null;
    signature.promise = null;
  }

  /** Forgets all kinds of a purpose. */
  drop(purpose: Purpose): void {
    for (const [key, signature] of this.#found) {
      if (signature.purpose !== purpose) continue;
      this.release(signature);
      this.#found.delete(key);
    }
  }

  clear(): void {
    this.list.release();
    this.#found.clear();
    this.evictions = 0;
  }
}
