/**
 * Whoever asks is given each training step of a model to run, and each batch that it evaluates: tfjs makes the functions
 * for them anew for each fit and has no hook there. In `fit` the step gets the numbers of the batch's rows, and with them the inputs as they were given,
 * so that the rows can be gathered within the step.
 */
import * as tf from '@tensorflow/tfjs';
import { perProcess } from '../../per_process.js';
import { rowNumbers } from './row_numbers.js';

/** What a step of tfjs takes: inputs, targets, weights of samples; the last may be missing. */
export type StepData = readonly (tf.Tensor | null | undefined)[];
export type EagerStep = (data: StepData) => tf.Scalar[];

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
  run(model: tf.LayersModel, eager: EagerStep, data: StepData): tf.Scalar[];
  /** The same for a batch by its rows. */
  runRows(model: tf.LayersModel, eager: EagerStep, batch: BatchRows): tf.Scalar[];
  /** Evaluates a batch, `eager` as tfjs does it. */
  evaluate(model: tf.LayersModel, eager: EagerStep, data: StepData): tf.Scalar[];
  /** Called when a model was disposed of by its last holder. */
  disposed(model: tf.LayersModel): void;
}

interface ModelMethods {
  makeTrainFunction(this: tf.LayersModel): EagerStep;
  fitLoop(this: tf.LayersModel, train: EagerStep, inputs: StepData, ...rest: unknown[]): Promise<unknown>;
  makeTestFunction(this: tf.LayersModel): void;
  dispose(this: tf.LayersModel): { refCountAfterDispose: number };
}

const runner = (): { current: StepRunner | null } => perProcess('runner of steps', () => ({ current: null }));
const MARK = Symbol.for('tfjs-embeddings.modelSteps');

/** The inputs of the loops in progress. */
const loops = new WeakMap<tf.LayersModel, StepData>();

/** Gives `runner` the steps of all models from now on. */
export function runSteps(given: StepRunner): void {
  runner().current ??= given;
  const methods = tf.LayersModel.prototype as unknown as ModelMethods & Record<symbol, true>;
  if (Object.hasOwn(methods, MARK)) return;
  Object.defineProperty(methods, MARK, { value: true });
  const { makeTrainFunction, makeTestFunction, fitLoop, dispose } = methods;
  methods.makeTrainFunction = function (this: tf.LayersModel): EagerStep {
    const eager = makeTrainFunction.call(this);
    const { current } = runner();
    if (current === null) return eager;
    return (data) => {
      const whole = loops.get(this);
      // A batch has inputs and targets; the rows of a loop come alone.
      if (whole === undefined || data.length > 1) return current.run(this, eager, data);
      return current.runRows(this, eager, { rows: data[0] as tf.Tensor1D, whole });
    };
  };
  methods.makeTestFunction = function (this: tf.LayersModel): void {
    makeTestFunction.call(this);
    const holder = this as unknown as { testFunction: EagerStep };
    const eager = holder.testFunction;
    const { current } = runner();
    if (current !== null) holder.testFunction = (data) => current.evaluate(this, eager, data);
  };
  methods.fitLoop = async function (this: tf.LayersModel, train, inputs, ...rest): Promise<unknown> {
    const first = inputs[0];
    const { current } = runner();
    if (current === null || !current.takesRows(this) || !(first instanceof tf.Tensor) || loops.has(this)) {
      return fitLoop.call(this, train, inputs, ...rest);
    }
    const numbers = rowNumbers(first.shape[0]!);
    loops.set(this, inputs);
    try {
      return await fitLoop.call(this, train, [numbers], ...rest);
    } finally {
      loops.delete(this);
      numbers.dispose();
    }
  };
  methods.dispose = function (this: tf.LayersModel): { refCountAfterDispose: number } {
    const result = dispose.call(this);
    if (result.refCountAfterDispose === 0) runner().current?.disposed(this);
    return result;
  };
}
