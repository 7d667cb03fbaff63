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
import { isStandIn, keyedRowsOf, raggedRowsOf, standInLike, takeRows, type RaggedRows } from '../tfjs/stand_ins.js';
import { feedsOf, withFoundKeys, type Feeds } from './found_keys.js';
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
  const carried = data.flatMap((tensor, place) => (isStandIn(tensor) ? [{ place, ...feedsOfStandIn(tensor) }] : []));
  if (carried.length === 0) return { purpose, eager: withOps, data, open: new Set(open) };
  const flat = data.map((tensor) => (isStandIn(tensor) ? null : tensor));
  const places = new Set(open);
  const starts = carried.map(({ place, tensors, splits }) => {
    const start = flat.length;
    flat.push(...tensors);
    // As many ids as there are, and of data of any number of rows as many rows.
    tensors.forEach((_, i) => {
      if (splits !== null && (!splits.includes(i) || places.has(place))) places.add(start + i);
    });
    return start;
  });
  const restored: EagerStep = (given) => {
    const all = given.slice(0, data.length);
    const made = carried.map(({ place, restored: again }, i) => (all[place] = again(given.slice(starts[i]))));
    try {
      return withOps(all);
    } finally {
      tf.dispose(made);
    }
  };
  return { purpose, eager: restored, data: flat, open: places };
}

/** The tensors that a graph is fed for one that stands for others, splits last, and that one with others in their place. */
function feedsOfStandIn(like: tf.Tensor): Feeds {
  const rows = raggedRowsOf(like);
  if (rows === null) return feedsOf(like);
  const restored = ([values, rowSplits]: StepData): tf.Tensor => {
    return standInLike(like as tf.Tensor2D, { values, rowSplits } as RaggedRows, false);
  };
  return { tensors: [rows.values, rows.rowSplits], splits: [1], restored };
}

function run(model: tf.LayersModel, eager: EagerStep, data: StepData, open?: readonly number[]): tf.Tensor[] {
  const losses = ownLosses(model);
  if (whyNot(model, 'train') !== null || isObserved()) return withOwnOps(eager, losses)(data);
  return withFoundKeys(model, 'train', data, (found) => {
    return capturedOf(model).step(graphStep('train', eager, found, { losses, open }));
  });
}

function evaluate(model: tf.LayersModel, eager: EagerStep, data: StepData): tf.Tensor[] {
  const losses = ownLosses(model);
  if (whyNot(model, 'evaluate') !== null || isObserved()) return withOwnOps(eager, losses)(data);
  return withFoundKeys(model, 'evaluate', data, (found) => {
    return capturedOf(model).step(graphStep('evaluate', eager, found, { losses }));
  });
}

function runRows(model: tf.LayersModel, eager: EagerStep, { rows, whole }: BatchRows): tf.Tensor[] {
  // Keys are taken before the step: their row numbers are what it is fed.
  const isKeyed = whole.map((tensor) => keyedRowsOf(tensor) !== null);
  const ofRows: EagerStep = ([given, ...all]) => {
    const taken = gathered(
      all.map((tensor, i) => (isKeyed[i] ? null : tensor)),
      given as tf.Tensor1D,
    );
    return eager(all.map((tensor, i) => (isKeyed[i] ? tensor : taken[i])));
  };
  const wholePlaces = whole.flatMap((_, i) => (isKeyed[i] ? [] : [i + 1]));
  const keys = takeRows(
    whole.map((tensor, i) => (isKeyed[i] ? tensor : null)),
    rows,
  );
  const data = [rows, ...whole.map((tensor, i) => keys[i] ?? tensor)];
  try {
    return run(model, ofRows, data, wholePlaces);
  } finally {
    tf.dispose(keys.filter((each) => each !== null) as tf.Tensor[]);
  }
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
      return withFoundKeys(model, 'predict', data, (found) => {
        return capturedOf(model).step(graphStep('predict', eager, found));
      });
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
