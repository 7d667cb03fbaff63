/**
 * Hands each training step of a model, and each batch that it evaluates or predicts, to a subscriber: tfjs makes
 * the functions for them anew for each fit and has no hook there. In `fit` the step gets the numbers of the batch's rows,
 * and with them the inputs as they were given, so that the rows can be gathered within the step; so it does without a
 * subscriber where inputs are ragged, whose rows tfjs cannot take.
 */
import * as tf from '@tensorflow/tfjs';
import { perProcess } from '../../base/per_process.js';
import { isStandIn, takeRows } from '../ragged_stand_in.js';
import { sumInJavaScript } from './epoch_means.js';
import { replaceStockKernel } from '../engine/stock_kernel.js';
import { lookAhead, looksAhead } from './look_ahead.js';
import { maskLossesLike, withMaskedLosses } from './masked_losses.js';
import { compileNamed } from './named_functions.js';
import { evaluateWeighted, trainWeighted, withRowLosses, type EagerStep, type StepData } from './sample_weights.js';

const ROW_ORDER = Symbol.for('tfjs-embeddings.rowOrder');

export class RowOrder {
  readonly batches: number;
  readonly #rows: Int32Array;
  /** Batches that were taken from this epoch. */
  #taken = 0;

  constructor(
    readonly count: number,
    readonly batchSize: number,
    private readonly shuffles: boolean,
  ) {
    this.batches = Math.ceil(count / batchSize);
    this.#rows = new Int32Array(count);
    // Ten times as fast as Int32Array.from.
    for (let row = 0; row < count; row++) this.#rows[row] = row;
  }

  /** How many rows a batch has: the last one of an epoch has the rest. */
  sizeOf(batch: number): number {
    return Math.min(this.batchSize, this.count - batch * this.batchSize);
  }

  /** The numbers of the rows of the next batch, int32; belongs to the scope of the caller. */
  next(): tf.Tensor1D {
    const batch = this.#taken % this.batches;
    if (batch === 0 && this.shuffles) this.#shuffle();
    this.#taken += 1;
    return this.#rowsOf(batch);
  }

  /** Those of the batch after it, without taking it; null where an epoch ends, as the next one has another order. */
  afterNext(): tf.Tensor1D | null {
    const batch = this.#taken % this.batches;
    return batch === 0 ? null : this.#rowsOf(batch);
  }

  #rowsOf(batch: number): tf.Tensor1D {
    const first = batch * this.batchSize;
    return tf.tensor1d(this.#rows.slice(first, first + this.sizeOf(batch)), 'int32');
  }

  /** In the order in which tf.util.shuffle would put them, which goes on from that of the epoch before. */
  #shuffle(): void {
    const rows = this.#rows;
    for (let left = rows.length; left > 0; left--) {
      const drawn = (Math.random() * left) | 0;
      const row = rows[left - 1]!;
      rows[left - 1] = rows[drawn]!;
      rows[drawn] = row;
    }
  }
}

/** The methods of a list of callbacks that tell of rows. */
interface Callbacks {
  readonly callbacks: readonly object[];
  setParams(params: Record<string, unknown>): void;
  onBatchBegin(batch: number, logs?: Record<string, unknown>): Promise<void>;
  onBatchEnd(batch: number, logs?: Record<string, unknown>): Promise<void>;
}

/** The order of the loop that is about to make its list of callbacks. */
const starting = (): { order: RowOrder | null } => perProcess('starting loop', () => ({ order: null }));

function patchCallbacks(): void {
  const { prototype } = tf.CallbackList as unknown as { prototype: Callbacks & Record<symbol, true> };
  if (Object.hasOwn(prototype, ROW_ORDER)) return;
  Object.defineProperty(prototype, ROW_ORDER, { value: true });
  const { setParams, onBatchBegin, onBatchEnd } = prototype;
  prototype.setParams = function (this: Callbacks, params): void {
    const { order } = starting();
    if (order === null) {
      setParams.call(this, params);
      return;
    }
    starting().order = null;
    setParams.call(this, { ...params, samples: order.count, batchSize: order.batchSize });
    sumInJavaScript(this.callbacks);
    this.onBatchBegin = async function (batch, logs) {
      await onBatchBegin.call(this, batch, logs);
      beginCut();
    };
    this.onBatchEnd = function (batch, logs) {
      return onBatchEnd.call(this, batch, Object.assign(logs ?? {}, { size: order.sizeOf(batch) }));
    };
  };
}

/** Starts a loop of tfjs over one number for each batch of `order`, and has its callbacks told of rows. */
function withRowOrder<T>(order: RowOrder, startLoop: () => T): T {
  patchCallbacks();
  starting().order = order;
  try {
    // The list is made before the loop first waits.
    return startLoop();
  } finally {
    starting().order = null;
  }
}

/** What tfjs-node keeps of a tensor that TensorFlow has not got yet. */
interface WaitingTensors {
  readonly tensorMap: { get(dataId: object): { readonly values: unknown } };
  write(values: Float32Array, shape: number[], dtype: 'float32'): object;
}

/** From here until `endCut` a loop may cut a number from its list. */
function beginCut(): void {
  openCuts();
  state().isCut = true;
}

function endCut(): void {
  state().isCut = false;
}

function openCuts(): void {
  replaceStockKernel('Slice', 'tensorflow', 'batchNumbers', (stock) => (args) => {
    const { inputs, attrs, backend } = args as unknown as {
      readonly inputs: { readonly x: tf.TensorInfo };
      readonly attrs: { readonly begin: unknown; readonly size: unknown };
      readonly backend: WaitingTensors;
    };
    const { shape, dtype, dataId } = inputs.x;
    const [begin, size] = [attrs.begin, attrs.size].map((each) => (Array.isArray(each) ? (each[0] as unknown) : null));
    const isOne = state().isCut && shape.length === 1 && dtype === 'float32' && size === 1;
    const values = isOne ? backend.tensorMap.get(dataId as object).values : null;
    if (!(values instanceof Float32Array) || typeof begin !== 'number' || begin < 0) return stock(args);
    return { dataId: backend.write(values.slice(begin, begin + 1), [1], 'float32'), shape: [1], dtype: 'float32' };
  });
}

const state = (): { isCut: boolean } => perProcess('cut batch numbers', () => ({ isCut: false }));

type Tensors = readonly tf.Tensor[];

interface BatchPredictor {
  /** `count` samples of the inputs, from `start` on. */
  rowsOf(inputs: Tensors, start: number, count: number): Tensors;
  /** One tensor per output. */
  predict(batch: Tensors): tf.Tensor[];
}

/** Predicts as many samples at a time as `batchSize` says; returns one tensor per output, over all samples. */
function inBatches(inputs: Tensors, batchSize: number, by: BatchPredictor): tf.Tensor[] {
  const samples = inputs[0]!.shape[0]!;
  if (samples <= batchSize) return tf.tidy(() => by.predict(inputs));
  return tf.tidy(() => {
    const batches: tf.Tensor[][] = [];
    for (let start = 0; start < samples; start += batchSize) {
      const count = Math.min(batchSize, samples - start);
      batches.push(tf.tidy(() => by.predict(by.rowsOf(inputs, start, count))));
    }
    return batches[0]!.map((_, output) =>
      tf.concat(
        batches.map((outputs) => outputs[output]!),
        0,
      ),
    );
  });
}

export type { EagerStep, StepData } from './sample_weights.js';

/** A batch by its rows. */
export interface BatchRows {
  /** Numbers of rows, int32. */
  readonly rows: tf.Tensor1D;
  /** What `fit` was given; `data` of the step is made of these rows of it. */
  readonly whole: StepData;
}

export interface StepRunner {
  /** Whether `fit` should give this model rows instead of batches. */
  takesRows(model: tf.LayersModel): boolean;
  /** Runs a step; `eager` is that of tfjs, for a batch as it is. */
  run(model: tf.LayersModel, eager: EagerStep, data: StepData): tf.Tensor[];
  /** The same for a batch by its rows. */
  runRows(model: tf.LayersModel, eager: EagerStep, batch: BatchRows): tf.Tensor[];
  /** Evaluates a batch, `eager` as tfjs does it. */
  evaluate(model: tf.LayersModel, eager: EagerStep, data: StepData): tf.Tensor[];
  /** Whether this model's batches are predicted by `predict`. */
  predicts(model: tf.LayersModel): boolean;
  /** A batch of what `predict` is given: `count` rows from `start` on. */
  rowsOf(this: void, inputs: readonly tf.Tensor[], start: number, count: number): readonly tf.Tensor[];
  /** Predicts a batch, `eager` as tfjs does it; one tensor per output. */
  predict(model: tf.LayersModel, eager: EagerStep, data: StepData): tf.Tensor[];
  /** Called when a model was compiled. */
  compiled(model: tf.LayersModel): void;
  /** Called when a sequential model gets another model within; `before`: the one that it had, or itself. */
  rebuilt(before: tf.LayersModel, now: tf.LayersModel): void;
  /** Called when a model was disposed of by its last holder. */
  disposed(model: tf.LayersModel): void;
  /** Called at the end of `fit` and `fitDataset`, while their data are there. */
  fitted(model: tf.LayersModel): void;
}

interface ModelMethods {
  makeTrainFunction(this: tf.LayersModel): EagerStep;
  fitLoop(
    this: tf.LayersModel,
    train: EagerStep,
    inputs: StepData,
    labels: readonly string[],
    batchSize: number | null | undefined,
    ...rest: unknown[]
  ): Promise<unknown>;
  fitDataset(this: tf.LayersModel, dataset: unknown, args: unknown): Promise<unknown>;
  testLoop(this: tf.LayersModel, test: EagerStep, inputs: StepData, batchSize: number, ...rest: unknown[]): unknown;
  makeTestFunction(this: tf.LayersModel): void;
  predictLoop(
    this: tf.LayersModel,
    inputs: tf.Tensor | tf.Tensor[],
    batchSize?: number,
    verbose?: boolean,
  ): tf.Tensor | tf.Tensor[];
  compile(this: tf.LayersModel, args: tf.ModelCompileArgs): void;
  dispose(this: tf.LayersModel): { refCountAfterDispose: number };
}

interface SequentialMethods {
  readonly model?: tf.LayersModel;
  build(this: SequentialMethods, shape?: unknown): void;
}

const runner = (): { current: StepRunner | null } => perProcess('runner of steps', () => ({ current: null }));
const MARK = Symbol.for('tfjs-embeddings.modelSteps');

/** A loop of `fit` in progress: its inputs, the order of their rows, and what it validates on. */
interface RowLoop {
  readonly whole: StepData;
  readonly order: RowOrder;
  readonly validation: unknown;
  /** Whether layers are told of the batch after each. */
  readonly isAhead: boolean;
  /** The inputs of the next batch, where layers were told of it. */
  ahead: tf.Tensor[] | null;
}

const loops = new WeakMap<tf.LayersModel, RowLoop>();

/** What tfjs takes where no batch size is given. */
const STOCK_BATCH = 32;
/** Arguments of `fitLoop`, counted from the one after the size of batches: data to validate on, and whether rows are shuffled. */
const VALIDATION = 4;
const SHUFFLE = 5;

/** The rows of a loop whose arguments are as stock `fit` makes them; null: it is left to tfjs. */
function rowsOf(inputs: StepData, batchSize: number | null | undefined, shuffle: unknown): RowOrder | null {
  const [first] = inputs;
  const isKnown = shuffle === true || shuffle === false || shuffle === undefined || shuffle === null;
  if (!(first instanceof tf.Tensor) || !isKnown || first.shape[0] === 0) return null;
  return new RowOrder(first.shape[0]!, batchSize ?? STOCK_BATCH, shuffle ?? true);
}

/** Gives `runner` the steps of all models from now on. */
export function runSteps(given: StepRunner): void {
  runner().current ??= given;
  watchSteps();
}

/** A batch that was cut from ragged inputs without a subscriber, or of a model that it leaves alone. */
function runTakenRows(eager: EagerStep, { rows, whole }: BatchRows): tf.Tensor[] {
  return tf.tidy(() => eager(takeRows(whole, rows)));
}

/** Tells layers of the batch after the one of these rows, then runs the step of that. Call inside a tidy. */
function runAhead(model: tf.LayersModel, loop: RowLoop, eager: EagerStep, rows: tf.Tensor1D): tf.Tensor[] {
  const { order, whole } = loop;
  const count = model.inputs.length;
  const take = (of: tf.Tensor1D): tf.Tensor[] => takeRows(whole.slice(0, count) as tf.Tensor[], of);
  const inputs = loop.ahead ?? take(rows);
  const next = order.afterNext();
  loop.ahead = next === null ? null : take(next).map((tensor) => tf.keep(tensor));
  try {
    if (loop.ahead !== null) lookAhead(model, loop.ahead);
    return tf.tidy(() => eager([...inputs, ...takeRows(whole.slice(count), rows)]));
  } finally {
    tf.dispose(inputs);
  }
}

/** Rows from `start` on. */
function rowsFrom(start: number, count: number): tf.Tensor1D {
  return tf.range(start, start + count, 1, 'int32');
}

const plainRows: StepRunner['rowsOf'] = (inputs, start, count) => takeRows(inputs, rowsFrom(start, count));

/** Means over the batches of ragged data, each counted by its rows: what `testLoop` of tfjs gives. */
function testRagged(test: EagerStep, data: StepData, batchSize: number): tf.Tensor[] {
  const count = data[0]!.shape[0]!;
  return tf.tidy(() => {
    const sums: tf.Tensor[] = [];
    for (let start = 0; start < count; start += batchSize) {
      const rows = Math.min(batchSize, count - start);
      const means = tf.tidy(() => test(takeRows(data, rowsFrom(start, rows))).map((mean) => mean.mul(rows)));
      means.forEach((mean, i) => (sums[i] = sums[i]?.add(mean) ?? mean));
    }
    return sums.map((sum) => sum.div(count));
  });
}

/** Watches the steps of all models; may be called again. */
export function watchSteps(): void {
  const methods = tf.LayersModel.prototype as unknown as ModelMethods & Record<symbol, true>;
  if (Object.hasOwn(methods, MARK)) return;
  Object.defineProperty(methods, MARK, { value: true });
  const { makeTrainFunction, makeTestFunction, fitLoop, fitDataset, testLoop, predictLoop, compile, dispose } = methods;
  methods.makeTrainFunction = function (this: tf.LayersModel): EagerStep {
    const stock = makeTrainFunction.call(this);
    const eager: EagerStep = (data) => withMaskedLosses(this, () => withRowLosses(this, data, stock));
    return (data) => {
      const { current } = runner();
      endCut();
      const loop = loops.get(this);
      // A batch has inputs and targets; what a loop of rows gives comes alone.
      if (loop === undefined || data.length > 1) {
        return trainWeighted(this, data, (all) => (current === null ? eager(all) : current.run(this, eager, all)));
      }
      const batch = { rows: loop.order.next(), whole: loop.whole };
      if (loop.isAhead) return runAhead(this, loop, eager, batch.rows);
      return current === null ? runTakenRows(eager, batch) : current.runRows(this, eager, batch);
    };
  };
  methods.makeTestFunction = function (this: tf.LayersModel): void {
    makeTestFunction.call(this);
    const holder = this as unknown as { testFunction: EagerStep };
    const stock = holder.testFunction;
    const eager: EagerStep = (data) => withMaskedLosses(this, () => stock(data));
    const { current } = runner();
    const watched: EagerStep = (data) => (current === null ? eager(data) : current.evaluate(this, eager, data));
    holder.testFunction = (data) => evaluateWeighted(this, data, { plain: stock, watched });
  };
  methods.fitLoop = async function (this: tf.LayersModel, train, inputs, labels, batchSize, ...rest): Promise<unknown> {
    const { current } = runner();
    const isAhead = looksAhead(this);
    const takesRows = inputs.some(isStandIn) || current?.takesRows(this) === true || isAhead;
    const order = takesRows && !loops.has(this) ? rowsOf(inputs, batchSize, rest[SHUFFLE]) : null;
    if (order === null) {
      const history = await fitLoop.call(this, train, inputs, labels, batchSize, ...rest);
      current?.fitted(this);
      return history;
    }
    // An empty list of tensors, of which nothing is gathered, that tells how many batches there are.
    const batches = Object.assign([], { shape: [order.batches] }) as unknown as tf.Tensor;
    loops.set(this, { whole: inputs, order, validation: rest[VALIDATION], isAhead, ahead: null });
    try {
      const inOrder = [...rest];
      inOrder[SHUFFLE] = false;
      const history = await withRowOrder(order, () => fitLoop.call(this, train, [batches], labels, 1, ...inOrder));
      current?.fitted(this);
      return history;
    } finally {
      tf.dispose(loops.get(this)?.ahead ?? []);
      loops.delete(this);
    }
  };
  methods.fitDataset = async function (this: tf.LayersModel, dataset, args): Promise<unknown> {
    const history = await fitDataset.call(this, dataset, args);
    runner().current?.fitted(this);
    return history;
  };
  // The loop validates on batches as large as its own; a callback may evaluate on others.
  methods.testLoop = function (this: tf.LayersModel, test, inputs, batchSize, ...rest): unknown {
    const loop = loops.get(this);
    const size = loop?.validation === inputs ? loop.order.batchSize : batchSize;
    const [verbose, steps] = rest;
    const isRagged = inputs.some(isStandIn) && !(Number(verbose) > 0) && (steps ?? null) === null;
    return isRagged ? testRagged(test, inputs, size) : testLoop.call(this, test, inputs, size, ...rest);
  };
  methods.predictLoop = function (this: tf.LayersModel, inputs, batchSize = 32, verbose = false) {
    const all = Array.isArray(inputs) ? inputs : [inputs];
    const { current } = runner();
    const isRagged = all.some(isStandIn);
    const isWatched = current !== null && !verbose && all[0]?.shape[0] !== 0 && current.predicts(this);
    if (!isRagged && !isWatched) return predictLoop.call(this, inputs, batchSize, verbose);
    const eager: EagerStep = (data) => {
      const given = data as tf.Tensor[];
      // The loop of tfjs would slice them.
      if (isRagged) return [this.call(given, { training: false })].flat();
      return [predictLoop.call(this, Array.isArray(inputs) ? given : given[0]!, given[0]!.shape[0])].flat();
    };
    const predict = (batch: Tensors): tf.Tensor[] => (isWatched ? current.predict(this, eager, batch) : eager(batch));
    const outputs = inBatches(all, batchSize, { rowsOf: isWatched ? current.rowsOf : plainRows, predict });
    return outputs.length === 1 ? outputs[0]! : outputs;
  };
  const sequential = tf.Sequential.prototype as unknown as SequentialMethods;
  const { build } = sequential;
  sequential.build = function (shape): void {
    const before = this.model ?? (this as unknown as tf.LayersModel);
    build.call(this, shape);
    maskLossesLike(this.model!, this as unknown as tf.LayersModel);
    runner().current?.rebuilt(before, this.model!);
  };
  methods.compile = function (this: tf.LayersModel, args): void {
    compileNamed(this, args, (named) => compile.call(this, named));
    runner().current?.compiled(this);
  };
  methods.dispose = function (this: tf.LayersModel): { refCountAfterDispose: number } {
    const result = dispose.call(this);
    if (result.refCountAfterDispose === 0) runner().current?.disposed(this);
    return result;
  };
}
