/** The training steps of one model: op by op, recorded, or repeated as one op. */
import * as tf from '@tensorflow/tfjs';
import { asNodeBackend, BACKEND_NAME } from '../backends/tensorflow/node_backend.js';
import type { SparseOptimizer } from '../optimizers/sparse_optimizer.js';
import { tableSettings } from '../ops/training/table_settings.js';
import type { EagerStep, StepData } from '../tfjs_patches/training/model_steps.js';
import { allLayers, compiledOf, isPart, whyNotPlain, type Compiled } from './plain_model.js';
import { fewerOps } from './fewer_ops.js';
import type { AttributeKinds } from './graph_def.js';
import { record } from './recorder.js';
import { difference, type Recording } from './recording.js';
import { whyUnsound } from './sound.js';
import { StepGraph, failedWriting, type GraphAddon } from './step_graph.js';
import { WatchedFields } from './watched_fields.js';

/** What a step does: it trains on a batch, or takes the losses of one. */
export type Purpose = 'train' | 'evaluate';

/** Steps of one kind: of one purpose, batches of these shapes, these variables trainable. */
interface Signature {
  readonly purpose: Purpose;
  /** Steps that ran op by op so far. */
  runs: number;
  recording: Recording | null;
  graph: StepGraph | null;
  watched: WatchedFields | null;
  /** How often a recording or a graph was given up because a field changed. */
  changes: number;
  refused: string | null;
}

/** Kinds of steps of a model that are captured; further ones run op by op. */
const MOST_SIGNATURES = 16;
/** A field that changes more often is one that changes all the time. */
const MOST_CHANGES = 8;

/** Fields of layers that count calls and the like, and the optimizers of models within models. */
const BOOKKEEPING = new Set([
  '_refCount',
  'inboundNodes',
  'outboundNodes',
  'history',
  'isTraining',
  'stopTraining_',
  'optimizer_',
]);

/** The graphs of a model, apart from it, so that they can be released when it is gone. */
export class GraphList {
  readonly graphs = new Set<StepGraph>();

  release(): void {
    for (const graph of this.graphs) graph.release();
    this.graphs.clear();
  }
}

/** What makes a batch of one kind: shapes, dtypes, and which tensors are the same. */
function kindOf(data: StepData): string {
  const seen: object[] = [];
  return data
    .map((tensor) => {
      if (tensor === null || tensor === undefined) return '-';
      const same = seen.indexOf(tensor.dataId);
      seen.push(tensor.dataId);
      return `${tensor.shape.join('x')}${tensor.dtype[0]}${same < 0 ? '' : same}`;
    })
    .join();
}

export class CapturedModel {
  readonly #signatures = new Map<string, Signature>();
  /** Why no step of the model is captured; undefined: that was not looked at since `compile`. */
  #reason: string | null | undefined;
  #compiled: readonly unknown[] = [];
  /** Losses and metrics as `compile` left them. */
  #functions: readonly unknown[] = [];

  constructor(
    private readonly addon: GraphAddon,
    private readonly list: GraphList,
  ) {}

  /** Why the last step that ran op by op did so; null where all kinds of steps are captured or about to be. */
  reason(model: tf.LayersModel): string | null {
    return (
      this.whyNot(model) ?? [...this.#signatures.values()].find(({ refused }) => refused !== null)?.refused ?? null
    );
  }

  get captured(): number {
    return this.list.graphs.size;
  }

  /** Why no step of this model is captured; null: nothing speaks against it. */
  whyNot(model: tf.LayersModel): string | null {
    return (
      this.whyNotPlain(model) ??
      (tf.getBackend() === BACKEND_NAME
        ? null
        : `the backend is ${tf.getBackend()}, and only ${BACKEND_NAME} captures steps`)
    );
  }

  /** What speaks against a model itself, whatever the backend; null: nothing. */
  whyNotPlain(model: tf.LayersModel): string | null {
    const { optimizer_, lossFunctions, metricsTensors, loss, metrics } = compiledOf(model);
    const compiled = [optimizer_, lossFunctions, metricsTensors, loss, metrics];
    if (compiled.some((each, i) => each !== this.#compiled[i])) {
      this.#compiled = compiled;
      this.#functions = functionsOf(model);
      this.forget();
    }
    if (this.#reason === undefined) this.#setReason(whyNotPlain(model));
    if (this.#reason === null && functionsOf(model).some((each, i) => each !== this.#functions[i])) {
      this.#setReason('its losses or metrics are others than those it was compiled with');
    }
    return this.#reason!;
  }

  #setReason(reason: string | null): void {
    if (reason !== null) this.forget();
    this.#reason = reason;
  }

  /** Gives up all graphs; steps are recorded again. */
  forget(): void {
    this.list.release();
    this.#signatures.clear();
    this.#reason = undefined;
  }

  /** Runs one step; the caller has asked `whyNot`. */
  step(model: tf.LayersModel, eager: EagerStep, data: StepData, purpose: Purpose): tf.Scalar[] {
    const signature = this.#signatureOf(model, data, purpose);
    if (signature === null || signature.refused !== null) return eager(data);
    if (signature.graph !== null) {
      if (this.#isCurrent(signature)) return this.#repeat(model, signature, eager, data);
      this.#giveUp(signature);
    }
    signature.runs += 1;
    // The first step makes slots, and the first buffers that can be written in place.
    if (signature.runs === 1 || signature.refused !== null) return eager(data);
    return this.#record(model, signature, eager, data);
  }

  #signatureOf(model: tf.LayersModel, data: StepData, purpose: Purpose): Signature | null {
    const { collectedTrainableWeights } = compiledOf(model);
    let key = `${purpose} ${kindOf(data)}`;
    for (const weight of collectedTrainableWeights) key += (weight.read() as tf.Variable).trainable ? '1' : '0';
    const known = this.#signatures.get(key);
    if (known !== undefined) return known;
    if (this.#signatures.size >= MOST_SIGNATURES) return null;
    const none = { recording: null, graph: null, watched: null, refused: null };
    const made: Signature = { purpose, runs: 0, changes: 0, ...none };
    this.#signatures.set(key, made);
    return made;
  }

  #isCurrent({ graph, watched }: Signature): boolean {
    return graph!.isWhole && watched!.changed() === null;
  }

  #giveUp(signature: Signature): void {
    const field = signature.watched!.changed();
    signature.graph!.release();
    this.list.graphs.delete(signature.graph!);
    Object.assign(signature, { graph: null, watched: null, recording: null, runs: 0 });
    this.#countChange(signature, field ?? 'a variable');
  }

  #countChange(signature: Signature, field: string): void {
    // It may have been a function, and the new one may be anybody's.
    this.#reason = undefined;
    signature.changes += 1;
    if (signature.changes > MOST_CHANGES) signature.refused ??= `${field} changes from step to step`;
  }

  #record(model: tf.LayersModel, signature: Signature, eager: EagerStep, data: StepData): tf.Scalar[] {
    const { results, recording } = record(asNodeBackend(tf.backend()), data, () => eager(data));
    if (!recording.isTypical && recording.problem === null) {
      this.#countChange(signature, 'whether there are ids at all');
      return results;
    }
    const first = signature.recording;
    const field = first === null ? null : signature.watched!.changed();
    signature.refused = recording.problem ?? (first === null || field !== null ? null : difference(first, recording));
    signature.recording = recording;
    signature.watched = watch(model);
    // What changed between the two steps was no matter of the step itself: this one is the first of two then.
    if (field !== null) this.#countChange(signature, field);
    else if (signature.refused === null && first !== null) this.#build(model, signature, recording);
    if (signature.refused !== null || signature.graph !== null) signature.recording = null;
    return results;
  }

  #build(model: tf.LayersModel, signature: Signature, recording: Recording): void {
    signature.refused = whyUnsound(recording);
    // Somebody's function may have come since that was looked at, and be part of both recordings.
    this.#reason = undefined;
    if (signature.refused !== null || this.whyNot(model) !== null) return;
    const kinds = asNodeBackend(tf.backend()).binding as unknown as AttributeKinds;
    try {
      signature.graph = new StepGraph(this.addon, fewerOps(recording, kinds));
    } catch (error) {
      signature.refused = `TensorFlow refuses its graph: ${(error as Error).message}`;
      return;
    }
    this.list.graphs.add(signature.graph);
  }

  #repeat(model: tf.LayersModel, signature: Signature, eager: EagerStep, data: StepData): tf.Scalar[] {
    let results: tf.Scalar[];
    try {
      results = signature.graph!.run(data);
    } catch (error) {
      if (failedWriting(error)) throw error;
      // Nothing was written. Op by op the step says what is wrong in words of layers and inputs.
      const eagerResults = eager(data);
      signature.refused = `TensorFlow cannot run its graph: ${(error as Error).message}`;
      return eagerResults;
    }
    const optimizer = compiledOf(model).optimizer_ as unknown as { incrementIterations(): void };
    if (signature.purpose === 'train') optimizer.incrementIterations();
    return results;
  }
}

/** The functions that a step of the model calls for losses and metrics. */
function functionsOf(model: tf.LayersModel): readonly unknown[] {
  const { lossFunctions = [], metricsTensors = [] } = compiledOf(model) as Partial<Compiled>;
  return [...lossFunctions, ...metricsTensors.flat()];
}

/** Everything that a step of the model may depend on beside its tensors. */
function watch(model: tf.LayersModel): WatchedFields {
  const watched = new WatchedFields();
  for (const field of ['collectedTrainableWeights', 'inputs', 'outputs', 'layers', 'calculateLosses'])
    watched.add(model, field);
  for (const layer of allLayers(model)) watched.addAll(layer, BOOKKEEPING, isPart);
  const optimizers = new Set([compiledOf(model).optimizer_ as SparseOptimizer]);
  for (const weight of model.weights) {
    watched.add(weight, 'val', 'the variable of a weight');
    const ofTable = tableSettings(weight.read() as tf.Variable)?.optimizer ?? null;
    if (ofTable !== null) optimizers.add(ofTable as SparseOptimizer);
  }
  for (const optimizer of optimizers) {
    watched.add(optimizer, 'stateVersion', 'the state of its optimizer');
    for (const method of ['minimize', 'computeGradients', 'applyGradients']) watched.add(optimizer, method);
    // The rate goes into the step as a number that is made anew each time.
    watched.addAll(optimizer.settings, new Set(['learningRate']));
  }
  return watched;
}
