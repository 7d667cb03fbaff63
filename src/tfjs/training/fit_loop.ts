/** The loops of `fit` and `fitDataset`: rows in place of batches in the first; what they made is freed where they fail. */
import * as tf from '@tensorflow/tfjs';
import { isStandIn, takeRows } from '../stand_ins.js';
import { sumInJavaScript } from './epoch_means.js';
import { lookAhead, looksAhead } from './look_ahead.js';
import { RowOrder } from './row_order.js';
import { guarded, stepRunner, trainStep, type EagerStep, type StepData } from './step_runner.js';

/** Numbers that a loop tells its callbacks, some as tensors. */
type Told = Record<string, number | tf.Tensor>;
type Tell = (at: number, logs?: Told) => Promise<void>;

/** A list of callbacks as tfjs makes it: the first one takes means, the last one is the history. */
interface Callbacks extends Record<'onBatchBegin' | 'onBatchEnd' | 'onEpochBegin' | 'onEpochEnd', Tell> {
  readonly callbacks: readonly Partial<{ totals: Told; syncData: () => Promise<void> }>[];
  setModel(model: object): void;
  onTrainBegin(): Promise<void>;
  onTrainEnd(): Promise<void>;
}

/** Begins a loop of tfjs; `seen` is told of the list of callbacks that it makes, before anything is told of it. */
function beginLoop<T>(begin: () => T, seen: (list: Callbacks) => void): T {
  const lists = tf.CallbackList.prototype as unknown as Callbacks;
  const { setModel } = lists;
  lists.setModel = function (this: Callbacks, model) {
    sumInJavaScript(this.callbacks);
    seen(this);
    setModel.call(this, model);
  };
  try {
    // The list is made before the loop first waits.
    return begin();
  } finally {
    lists.setModel = setModel;
  }
}

function freeLogs(logs: Told = {}): void {
  for (const value of Object.values(logs)) if (typeof value !== 'number' && !value.isDisposed) value.dispose();
}

/** Frees what a failed loop has reported; numbers of epochs that went well become plain ones, as after a fit that did. */
async function release(list: Callbacks, ...logs: (Told | undefined)[]): Promise<void> {
  for (const callback of list.callbacks) await callback.syncData?.();
  for (const each of [...list.callbacks.map(({ totals }) => totals), ...logs]) freeLogs(each);
}

/** A step over the rows that come next, to be called inside a tidy; what it keeps for the one after it, `ahead`. */
function rowSteps(model: tf.LayersModel, data: StepData, train: EagerStep, order: RowOrder) {
  const runner = stepRunner();
  const eager = trainStep(model);
  const kept: { ahead: tf.Tensor[] | null } = { ahead: null };
  let step = (rows: tf.Tensor1D): tf.Tensor[] => train(takeRows(data, rows));
  if (looksAhead(model)) {
    const count = model.inputs.length;
    const take = (rows: tf.Tensor1D): tf.Tensor[] => takeRows(data.slice(0, count) as tf.Tensor[], rows);
    // Layers are told of the batch after that of these rows before the step of that.
    step = (rows) => {
      const inputs = kept.ahead ?? take(rows);
      const next = order.afterNext();
      kept.ahead = next === null ? null : take(next).map((tensor) => tf.keep(tensor));
      try {
        if (kept.ahead !== null) lookAhead(model, kept.ahead);
        return tf.tidy(() => eager([...inputs, ...takeRows(data.slice(count), rows)]));
      } finally {
        tf.dispose(inputs);
      }
    };
  } else if (runner !== null && (runner.takesRows(model) || data.some(isStandIn))) {
    step = (rows) => runner.runRows(model, eager, { rows, whole: data });
  }
  return { next: () => guarded(() => step(order.next())), kept };
}

/** What a loop of tfjs uses of a model. */
interface Trained {
  history: tf.History;
  stopTraining_: boolean;
  testLoop(test: EagerStep, data: StepData, batchSize: number): tf.Tensor[];
}

type FitLoop = (this: tf.LayersModel, ...args: unknown[]) => Promise<unknown>;

const noLoop = new Error('only the list of callbacks was wanted');

function keepAs(told: Told, labels: readonly string[], results: readonly tf.Tensor[]): void {
  labels.forEach((label, i) => (told[label] = tf.keep(results[i]!)));
}

/** The loop of `fit`. Of arguments that it does not take tfjs tells itself. */
export function fitLoop(stock: FitLoop): FitLoop {
  return async function (...args) {
    const [train, data, labels, batchSize] = args as [EagerStep, StepData, readonly string[], number];
    const [test, validation, shuffle] = args.slice(7) as [EagerStep | null, StepData, unknown];
    const [end, first, steps, validationSteps] = [4, 11, 12, 13].map(
      (place) => args[place] as number | null | undefined,
    );
    const isShuffled = shuffle ?? true;
    if ((steps ?? validationSteps ?? null) !== null || typeof isShuffled !== 'boolean') return stock.apply(this, args);
    let found: Callbacks | undefined;
    const stop = (made: Callbacks): never => {
      found = made;
      throw noLoop;
    };
    await beginLoop(() => stock.apply(this, args), stop).catch((error: unknown) => {
      if (error !== noLoop) throw error;
    });
    const [list, model] = [found!, this as unknown as Trained];
    const order = new RowOrder(data[0]!.shape[0]!, batchSize, isShuffled);
    const { next, kept } = rowSteps(this, data, train, order);
    let [logs, means]: Told[] = [];
    try {
      list.setModel(this);
      model.history = list.callbacks.at(-1) as tf.History;
      await list.onTrainBegin();
      model.stopTraining_ = false;
      for (let epoch = first ?? 0; epoch < (end ?? 1) && !model.stopTraining_; epoch++) {
        await list.onEpochBegin(epoch);
        order.beginEpoch();
        means = {};
        for (let batch = 0; batch < order.batches; batch++) {
          const told: Told = (logs = {});
          await list.onBatchBegin(batch, told);
          Object.assign(told, { batch, size: order.sizeOf(batch) });
          tf.tidy(() => {
            keepAs(told, labels, next());
            if (batch < order.batches - 1 || test === null) return;
            const tested = model.testLoop(test, validation, batchSize);
            const names = labels.map((label) => `val_${label}`);
            keepAs(means!, names, tested);
          });
          await list.onBatchEnd(batch, told);
          freeLogs(told);
          if (model.stopTraining_) break;
        }
        await list.onEpochEnd(epoch, means);
      }
      await list.onTrainEnd();
      await (model.history as unknown as { syncData(): Promise<void> }).syncData();
      stepRunner()?.fitted(this);
      return model.history;
    } catch (error) {
      await release(list, logs, means);
      throw error;
    } finally {
      tf.dispose(kept.ahead ?? []);
    }
  };
}

/** A loop of tfjs over a data set; `free` frees the batch that was given last. */
export async function datasetLoop<T>(model: tf.LayersModel, begin: () => Promise<T>, free: () => void): Promise<T> {
  let list: Callbacks | undefined;
  let told: (Told | undefined)[] = [];
  const note = (made: Callbacks): void => {
    list = made;
    for (const name of ['onBatchEnd', 'onEpochEnd'] as const) {
      const tell = made[name];
      made[name] = async (at, logs) => {
        told = [logs];
        await tell.call(made, at, logs);
      };
    }
  };
  try {
    const history = await beginLoop(begin, note);
    stepRunner()?.fitted(model);
    return history;
  } catch (error) {
    free();
    if (list !== undefined) await release(list, ...told);
    throw error;
  }
}
