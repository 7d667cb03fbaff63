/** What captures the steps of models, in Node with native kernels. */
import * as tf from '@tensorflow/tfjs';
import { isRecording } from '../backends/recordings.js';
import { BACKEND_NAME } from '../backends/tensorflow/node_backend.js';
import { perProcess } from '../base/per_process.js';
import type { Capturer } from '../base/platform.js';
import { areKernelsWatched } from '../tfjs/engine/watched_kernels.js';
import { runSteps, type BatchRows, type EagerStep, type StepData } from '../tfjs/training/step_runner.js';
import { withOverrides, type Override } from '../tfjs/training/substitute.js';
import { CapturedModel } from './captured_model.js';
import { FunctionSteps } from './functions/function_steps.js';
import { isStandIn, raggedRowsOf, standInLike } from '../tfjs/ragged_stand_in.js';
import { backendWithOps, consecutive, gathered } from './gathered_rows.js';
import { type Purpose, moveChoice, trained, whyChosenOff, whySwitchedOff } from './steps.js';
import { findTfjsPatch, snapshotTfjs } from './known/known_tfjs.js';
import { snapshotKnownClasses } from './known/plain_classes.js';
import { DOTS } from './overrides/dot.js';
import { DROPOUT, DROPS } from './overrides/dropout.js';
import { GATHERS } from './overrides/gathers.js';
import { withNativeLosses } from './overrides/losses.js';
import { NOISE } from './overrides/noise.js';
import { OWN_PRODUCTS } from './overrides/own_products.js';
import { EXACT_PAIR_DOTS, PAIR_DOTS } from './overrides/pair_dots.js';
import { RECURRENT_DROPOUT } from './overrides/recurrent_dropout.js';
import { SEGMENT_SUMS } from './overrides/segment_sums.js';
import { SOFTMAX_GRADIENT } from './overrides/softmax_gradient.js';
import { TILE_GRADIENT } from './overrides/tile_gradient.js';
import { GraphList, type GivenStep } from './signatures.js';
import type { GraphAddon } from './step_graph.js';

interface CapturedModels {
  addon: GraphAddon | null;
  readonly models: WeakMap<tf.LayersModel, CapturedModel>;
  readonly gone: FinalizationRegistry<GraphList>;
}

const state = (): CapturedModels =>
  perProcess('captured steps', () => ({
    addon: null,
    models: new WeakMap(),
    gone: new FinalizationRegistry((list) => list.release()),
  }));

function capturedOf(model: tf.LayersModel): CapturedModel {
  const { models, addon, gone } = state();
  const known = models.get(model);
  if (known !== undefined) return known;
  const list = new GraphList();
  const made = new CapturedModel(model, addon!, list);
  models.set(model, made);
  gone.register(model, list);
  return made;
}

/** Whether a step runs within a call that takes gradients. */
function isOnTape(): boolean {
  return (tf.engine() as unknown as { state: { gradientDepth: number } }).state.gradientDepth > 0;
}

/** Whether tfjs is asked to look at each op, or to differentiate it, or another step records it: one call would hide them. */
function isObserved(): boolean {
  return isOnTape() || areKernelsWatched() || isRecording();
}

function whyNot(model: tf.LayersModel, purpose: Purpose): string | null {
  return whyChosenOff(model) ?? capturedOf(model).whyNot(purpose);
}

/** Whether one op takes the rows of a batch from all inputs; the steps of such a model may still run op by op. */
function takesRows(model: tf.LayersModel): boolean {
  if (whySwitchedOff(model) !== null || capturedOf(model).whyNotPlain('train') !== null) return false;
  return backendWithOps() !== null;
}

/** What takes the place of stock ops in every graph, with the same bits. */
const EXACT_OPS: readonly Override[] = [OWN_PRODUCTS, GATHERS, EXACT_PAIR_DOTS];
/** Gradients, which are added up in orders of our own. */
const OF_GRADIENTS: readonly Override[] = [SEGMENT_SUMS, SOFTMAX_GRADIENT, TILE_GRADIENT];
/** Random numbers that are drawn by ops. */
const AT_RANDOM: readonly Override[] = [DROPOUT, DROPS, RECURRENT_DROPOUT, NOISE];
const OF_FUNCTIONS: readonly Override[] = [...EXACT_OPS, ...OF_GRADIENTS, ...AT_RANDOM];
/** Products of features, and their gradients, which take most of the time of some models that are trained. */
const OF_TRAINING: readonly Override[] = [...OF_FUNCTIONS, DOTS, PAIR_DOTS];

/** Runs a part of a step with ops of ours in the place of others. */
type Around = (run: () => tf.Tensor[]) => tf.Tensor[];

/** The step with ops of ours; what users put into tfjs is to be called as without this package. */
function withOwnOps(eager: EagerStep, around: Around): EagerStep {
  return (data) => (findTfjsPatch() === null ? around(() => eager(data)) : eager(data));
}

/** The losses that the graph of a step would have, whether it is captured or not. */
function ownLosses(model: tf.LayersModel): Around {
  // Their ops have no gradient of labels.
  return (run) => (isOnTape() ? run() : withNativeLosses(model, run));
}

/**
 * A step as graphs take it, with the ops that its graph will have: ragged inputs are their values and the splits of their rows, behind the rest. `open`: places
 * of data of any number of rows.
 */
function graphStep(
  purpose: Purpose,
  eager: EagerStep,
  data: StepData,
  { losses, open = [] }: { readonly losses?: Around; readonly open?: readonly number[] | undefined } = {},
): Omit<GivenStep, 'kind'> {
  const around: Around = (run) =>
    withOverrides(purpose === 'train' ? OF_TRAINING : EXACT_OPS, losses === undefined ? run : () => losses(run));
  const withOps = withOwnOps(eager, around);
  const ragged = data.flatMap((tensor, place) => {
    const rows = raggedRowsOf(tensor);
    return rows === null ? [] : [{ place, rows, like: tensor as tf.Tensor2D }];
  });
  if (ragged.length === 0) return { purpose, eager: withOps, data, open: new Set(open) };
  const flat = data.map((tensor) => (isStandIn(tensor) ? null : tensor));
  const places = new Set(open);
  for (const { place, rows } of ragged) {
    const [values, splits] = [flat.push(rows.values) - 1, flat.push(rows.rowSplits) - 1];
    places.add(values);
    if (places.has(place)) places.add(splits);
  }
  const restored: EagerStep = (given) => {
    const all = given.slice(0, data.length);
    const made = ragged.map(({ place, like }, i) => {
      const [values, rowSplits] = given.slice(data.length + 2 * i) as [tf.Tensor1D, tf.Tensor1D];
      return (all[place] = standInLike(like, { values, rowSplits }, false));
    });
    try {
      return withOps(all);
    } finally {
      tf.dispose(made);
    }
  };
  return { purpose, eager: restored, data: flat, open: places };
}

function run(model: tf.LayersModel, eager: EagerStep, data: StepData, open?: readonly number[]): tf.Tensor[] {
  const losses = ownLosses(model);
  if (whyNot(model, 'train') !== null || isObserved()) return withOwnOps(eager, losses)(data);
  return capturedOf(model).step(graphStep('train', eager, data, { losses, open }));
}

function evaluate(model: tf.LayersModel, eager: EagerStep, data: StepData): tf.Tensor[] {
  const losses = ownLosses(model);
  if (whyNot(model, 'evaluate') !== null || isObserved()) return withOwnOps(eager, losses)(data);
  return capturedOf(model).step(graphStep('evaluate', eager, data, { losses }));
}

function runRows(model: tf.LayersModel, eager: EagerStep, { rows, whole }: BatchRows): tf.Tensor[] {
  const ofRows: EagerStep = ([given, ...all]) => {
    return eager(gathered(all, given as tf.Tensor1D));
  };
  const wholePlaces = whole.map((_, i) => i + 1);
  return run(model, ofRows, [rows, ...whole], wholePlaces);
}

/** Captures steps from now on, with this addon. May be called again. */
export function captureSteps(addon: GraphAddon): Capturer {
  state().addon ??= addon;
  for (const { install } of OF_TRAINING) install?.();
  runSteps({
    backend: BACKEND_NAME,
    takesRows,
    run,
    runRows,
    evaluate,
    predicts: (model) => whyNot(model, 'predict') === null && !isObserved(),
    rowsOf: consecutive,
    predict(model, eager, data) {
      return capturedOf(model).step(graphStep('predict', eager, data));
    },
    compiled: (model) => capturedOf(model).compiled(),
    rebuilt(before, now) {
      moveChoice(before, now);
      // It is trained no more, and would keep its graphs until it is collected.
      state().models.get(before)?.forget();
    },
    disposed: (model) => state().models.get(trained(model))?.forget(),
    fitted: (model) => state().models.get(model)?.verify(),
  });
  snapshotKnownClasses();
  snapshotTfjs();
  return {
    infoOf(model) {
      const captured = capturedOf(model);
      return { reason: captured.reason(), captured: captured.captured, evictions: captured.evictions };
    },
    forget: (model) => state().models.get(model)?.forget(),
    functionSteps(f, options) {
      const list = new GraphList();
      const steps = new FunctionSteps(f, options, {
        addon: state().addon!,
        list,
        withOwnOps: (run) => (findTfjsPatch() === null ? withOverrides(OF_FUNCTIONS, run) : run()),
        isObserved,
      });
      state().gone.register(steps, list);
      return steps;
    },
  };
}
