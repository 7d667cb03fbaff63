/**
 * What `fit` and `fitDataset` of tfjs made when they fail: their loops dispose of it after a batch or an epoch that went
 * well only, and it would stay for as long as the process.
 */
import * as tf from '@tensorflow/tfjs';
import { asOwn } from '../engine/own_functions.js';
import { releaseFailedTape } from '../failed_tape.js';

type Method = (this: tf.LayersModel, ...args: unknown[]) => unknown;
type Step = (data: readonly (tf.Tensor | null | undefined)[]) => tf.Tensor[];
type Telling = (this: unknown, ...args: unknown[]) => Promise<void>;

interface Callbacks {
  readonly callbacks: readonly Partial<{ totals: Record<string, unknown>; syncData: () => Promise<void> }>[];
  setModel(this: Callbacks & Record<string, Telling>, model: unknown): void;
}

const TELLING = ['onTrainBegin', 'onEpochBegin', 'onBatchBegin', 'onBatchEnd', 'onEpochEnd', 'onTrainEnd'];
const FAILED_FITS = Symbol.for('tfjs-embeddings.failedFits');

/** The tensors of one loop. */
class Loop {
  #callbacks: Callbacks | null = null;
  /** Calls of callbacks in progress, whose tensors are those of the user. */
  #telling = 0;
  readonly #made = new Set<tf.Tensor>();
  #unwatch: (() => void) | null = null;

  constructor(private readonly ownsData: boolean) {}

  /** Follows what the loop tells its callbacks. */
  follow(list: Callbacks & Record<string, Telling>): void {
    this.#callbacks = list;
    for (const name of TELLING) {
      const tell = list[name]!;
      list[name] = async (...args) => {
        this.#unwatch?.();
        this.#telling += 1;
        try {
          await tell.apply(list, args);
        } finally {
          this.#telling -= 1;
        }
      };
    }
    if (this.ownsData) return;
    const begin = list['onEpochBegin']!;
    list['onEpochBegin'] = (...args) => {
      const told = begin.apply(list, args);
      // Right before the loop goes on, which makes a list of rows and then tells of its first batch.
      void told.then(
        () => this.#watch(),
        () => undefined,
      );
      return told;
    };
  }

  #watch(): void {
    const engine = tf.engine() as unknown as { trackTensor(tensor: tf.Tensor, backend: unknown): void };
    const { trackTensor } = engine;
    const isOwn = Object.hasOwn(engine, 'trackTensor');
    engine.trackTensor = asOwn((tensor, backend) => {
      this.#made.add(tensor);
      trackTensor.call(engine, tensor, backend);
    });
    this.#unwatch = () => {
      this.#unwatch = null;
      if (isOwn) engine.trackTensor = trackTensor;
      else delete (engine as Partial<typeof engine>).trackTensor;
    };
  }

  /** Runs a step of the loop, or of a callback. */
  step(step: Step, data: Parameters<Step>[0]): tf.Tensor[] {
    if (this.#telling > 0) return step(data);
    if (this.ownsData) data.forEach((tensor) => tensor && this.#made.add(tensor));
    return this.keeps(step(data));
  }

  /** Notes results that the loop holds until it has reported them. */
  keeps(results: tf.Tensor[]): tf.Tensor[] {
    if (this.#telling === 0) results.forEach((each) => this.#made.add(each));
    return results;
  }

  /** Frees everything; numbers of epochs that went well become plain ones, as after a `fit` that did. */
  async release(): Promise<void> {
    this.#unwatch?.();
    const callbacks = this.#callbacks?.callbacks ?? [];
    for (const { totals = {} } of callbacks) {
      for (const total of Object.values(totals)) if (total instanceof tf.Tensor) this.#made.add(total);
    }
    // It reads the results of epochs, which are among those.
    for (const callback of callbacks) await callback.syncData?.();
    for (const tensor of this.#made) if (!tensor.isDisposed) tensor.dispose();
  }
}

const loops = new WeakMap<object, Loop>();

function patchCallbacks(): void {
  const { prototype } = tf.CallbackList as unknown as { prototype: Callbacks & Record<symbol, true> };
  if (Object.hasOwn(prototype, FAILED_FITS)) return;
  Object.defineProperty(prototype, FAILED_FITS, { value: true });
  const { setModel } = prototype;
  prototype.setModel = function (model): void {
    setModel.call(this, model);
    loops.get(model as object)?.follow(this);
  };
}

/** A loop that frees what it made where it fails. `ownsData`: batches are its own, as those of a data set are. */
export function freeing(method: Method, ownsData: boolean): Method {
  patchCallbacks();
  return async function (this: tf.LayersModel, ...args: unknown[]): Promise<unknown> {
    // tfjs refuses a second one.
    if (loops.has(this)) return method.apply(this, args);
    const loop = new Loop(ownsData);
    loops.set(this, loop);
    try {
      return await method.apply(this, args);
    } catch (error) {
      await loop.release();
      throw error;
    } finally {
      loops.delete(this);
    }
  };
}

/** The step of a model, whose tape ends where it fails, and whose tensors are told to the loop in progress. */
export function freeingStep(model: object, step: Step): Step {
  return (data) => {
    try {
      const loop = loops.get(model);
      return loop === undefined ? step(data) : loop.step(step, data);
    } catch (error) {
      releaseFailedTape();
      throw error;
    }
  };
}

/** What a model validates on, told to the loop in progress. */
export function keepingResults(method: Method): Method {
  return function (this: tf.LayersModel, ...args: unknown[]): unknown {
    const results = method.apply(this, args);
    if (Array.isArray(results)) loops.get(this)?.keeps(results as tf.Tensor[]);
    return results;
  };
}
