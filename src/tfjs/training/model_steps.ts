/** How models of ours train, evaluate and predict: by steps that a subscriber may run, and the loop of `fit_loop`. */
import * as tf from '@tensorflow/tfjs';
import { RuntimeError, described } from '../../base/errors.js';
import { isStandIn, takeRows } from '../stand_ins.js';
import { MODELS, addOnce, override } from '../models/own_models.js';
import { addFedRows, checkFed, whileFeeding } from '../uncast_inputs.js';
import { fitLoop } from './fit_loop.js';
import { maskLossesLike, withMaskedLosses } from './masked_losses.js';
import { compileNamed } from './named_functions.js';
import { noteSequential } from './resumed_fits.js';
import { evaluateWeighted, trainWeighted, type EagerStep, type StepData } from './sample_weights.js';
import { guarded, runnerInUse, stepRunner, trainStep } from './step_runner.js';

type Tensors = readonly tf.Tensor[];

/** tfjs would call what is no function: files have the losses that it knows by name, and no others. */
function checkLosses(model: tf.LayersModel): void {
  const { lossFunctions = [] } = model as unknown as { lossFunctions?: readonly unknown[] };
  const without = lossFunctions.findIndex((loss) => typeof loss !== 'function');
  if (without < 0) return;
  const note =
    'Files keep losses by name alone: compile({ optimizer: model.optimizer, loss }) goes on where they lack one.';
  throw new RuntimeError('loss', `a loss of output ${model.outputNames[without]}`, described('none'), note);
}

function makesTrainStep(make: () => EagerStep) {
  return function (this: tf.LayersModel): EagerStep {
    checkLosses(this);
    const eager = trainStep(this, make.call(this));
    return (data) =>
      guarded(() => {
        checkFed(this, data);
        const run = runnerInUse();
        return trainWeighted(this, data, (all) => (run === null ? eager(all) : run.run(this, eager, all)));
      });
  };
}

function makesTestStep(make: () => void) {
  return function (this: tf.LayersModel): void {
    checkLosses(this);
    make.call(this);
    const holder = this as unknown as { testFunction: EagerStep };
    const plain = holder.testFunction;
    const eager: EagerStep = (data) => withMaskedLosses(this, () => plain(data));
    const watched: EagerStep = (data) => runnerInUse()?.evaluate(this, eager, data) ?? eager(data);
    holder.testFunction = (data) =>
      whileFeeding(() => {
        checkFed(this, data);
        return evaluateWeighted(this, data, { plain, watched });
      });
  };
}

/** Rows from `start` on. */
export function rowsFrom(start: number, count: number): tf.Tensor1D {
  return tf.tensor1d(
    Int32Array.from({ length: count }, (_, i) => start + i),
    'int32',
  );
}

type TestLoop = (
  this: tf.LayersModel,
  test: EagerStep,
  data: StepData,
  batchSize: number,
  verbose?: unknown,
  steps?: unknown,
) => tf.Tensor[];

/** Means over the batches of data, each counted by its rows. Of arguments that it does not take tfjs tells itself. */
function testsRows(stock: TestLoop): TestLoop {
  return function (test, data, batchSize, verbose, steps) {
    if (Number(verbose) > 0 || (steps ?? null) !== null) return stock.call(this, test, data, batchSize, verbose, steps);
    const count = data[0]!.shape[0]!;
    return tf.tidy(() => {
      const sums: tf.Tensor[] = [];
      for (let start = 0; start < count; start += batchSize) {
        const rows = Math.min(batchSize, count - start);
        const means = tf.tidy(() => test(takeRows(data, rowsFrom(start, rows))).map((mean) => tf.mul(rows, mean)));
        means.forEach((mean, i) => (sums[i] = sums[i]?.add(mean) ?? mean));
      }
      return sums.map((sum) => sum.div(count));
    });
  };
}

type RowsOf = (inputs: Tensors, start: number, count: number) => Tensors;

/** Predicts as many samples at a time as `batchSize` says; returns one tensor per output, over all samples. */
function inBatches(
  inputs: Tensors,
  size: number,
  rowsOf: RowsOf,
  predict: (batch: Tensors) => tf.Tensor[],
): tf.Tensor[] {
  const samples = inputs[0]!.shape[0]!;
  if (samples <= size) return tf.tidy(() => predict(inputs));
  return tf.tidy(() => {
    const batches = Array.from({ length: Math.ceil(samples / size) }, (_, i) =>
      tf.tidy(() => predict(rowsOf(inputs, i * size, Math.min(size, samples - i * size)))),
    );
    const places = batches[0]!.map((_, output) => batches.map((outputs) => outputs[output]!));
    return places.map((parts) => tf.concat(parts, 0));
  });
}

const plainRows: RowsOf = (inputs, start, count) => takeRows(inputs, rowsFrom(start, count));

type PredictLoop = (
  this: tf.LayersModel,
  inputs: tf.Tensor | tf.Tensor[],
  batchSize?: number,
  verbose?: boolean,
) => tf.Tensor | tf.Tensor[];

function predictsBatches(stock: PredictLoop): PredictLoop {
  return function (inputs, batchSize = 32, verbose = false) {
    const all = Array.isArray(inputs) ? inputs : [inputs];
    checkFed(this, all);
    return whileFeeding(() => {
      const run = runnerInUse();
      const isRagged = all.some(isStandIn);
      const isWatched = run !== null && !verbose && all[0]?.shape[0] !== 0 && run.predicts(this);
      if (!isRagged && !isWatched) return stock.call(this, inputs, batchSize, verbose);
      const eager: EagerStep = (data) => {
        const given = data as tf.Tensor[];
        // The loop of tfjs would slice them.
        if (isRagged) return [this.call(given, { training: false })].flat();
        return [stock.call(this, Array.isArray(inputs) ? given : given[0]!, given[0]!.shape[0])].flat();
      };
      const predict = (batch: Tensors): tf.Tensor[] => (isWatched ? run.predict(this, eager, batch) : eager(batch));
      const outputs = inBatches(all, batchSize, isWatched ? run.rowsOf : plainRows, predict);
      return outputs.length === 1 ? outputs[0]! : outputs;
    });
  };
}

/** Gives models of ours these steps; may be called again. */
export function watchSteps(): void {
  addOnce('steps', () => {
    const { graphs, sequentials, containers } = MODELS;
    override(graphs, 'makeTrainFunction', makesTrainStep);
    override(graphs, 'makeTestFunction', makesTestStep);
    override(graphs, 'fitLoop', (stock: Parameters<typeof fitLoop>[0]) => addFedRows(fitLoop(stock), 1));
    override(graphs, 'testLoop', (stock: TestLoop) => addFedRows(testsRows(stock), 1));
    override(graphs, 'predictLoop', (stock: PredictLoop) => addFedRows(predictsBatches(stock), 0));
    override(graphs, 'compile', (compile: tf.LayersModel['compile']) => {
      return function (this: tf.LayersModel, args: tf.ModelCompileArgs): void {
        compileNamed(this, args, (named) => compile.call(this, named));
        stepRunner()?.compiled(this);
      };
    });
    override(containers, 'dispose', (dispose: tf.LayersModel['dispose']) => {
      return function (this: tf.LayersModel) {
        const result = dispose.call(this);
        if (result.refCountAfterDispose === 0) stepRunner()?.disposed(this);
        return result;
      };
    });
    override(sequentials, 'build', (build: (shape?: unknown) => void) => {
      return function (this: tf.LayersModel & { readonly model?: tf.LayersModel }, shape?: unknown): void {
        const before = this.model ?? this;
        build.call(this, shape);
        noteSequential(this.model!, this);
        maskLossesLike(this.model!, this);
        stepRunner()?.rebuilt(before, this.model!);
      };
    });
  });
}
