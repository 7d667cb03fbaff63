/** The steps of one model: op by op, recorded, or repeated as one op. */
import * as tf from '@tensorflow/tfjs';
import { asNodeBackend, BACKEND_NAME } from '../backends/tensorflow/node_backend.js';
import { Ownership } from '../backends/tensorflow/ownership.js';
import type { EagerStep, StepData } from '../tfjs_patches/training/model_steps.js';
import { compiledOf, whyNotPlain, type Compiled, type Purpose } from './plain_model.js';
import { fewerOps } from './fewer_ops.js';
import type { AttributeKinds } from './graph_def.js';
import { record } from './recorder.js';
import { difference, type Recording } from './recording.js';
import { whyUnsound } from './sound.js';
import { StepGraph, failedWriting, type GraphAddon } from './step_graph.js';
import type { WatchedFields } from './watched_fields.js';
import { watchedModel } from './watched_model.js';

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

/** Kinds of steps of a model and a purpose that are captured; further ones run op by op. */
const MOST_SIGNATURES = 16;
/** A field that changes more often is one that changes all the time. */
const MOST_CHANGES = 8;

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
  /** Why no step of a purpose is captured; none: that was not looked at since `compile`. */
  readonly #reasons = new Map<Purpose, string | null>();
  #optimizer: tf.Optimizer | null = null;
  /** Losses and metrics as `compile` left them; null: it was not called. */
  #functions: readonly unknown[] | null = null;

  constructor(
    private readonly addon: GraphAddon,
    private readonly list: GraphList,
  ) {}

  /** Why steps of some kind run op by op; null where all kinds of them are captured or about to be. */
  reason(model: tf.LayersModel): string | null {
    const signatures = [...this.#signatures.values()];
    // A model that was never compiled may predict all the same.
    const isCompiled = (compiledOf(model).optimizer_ ?? null) !== null;
    const purpose = !isCompiled && this.#reasons.has('predict') ? 'predict' : 'train';
    return this.whyNot(model, purpose) ?? signatures.find(({ refused }) => refused !== null)?.refused ?? null;
  }

  get captured(): number {
    return this.list.graphs.size;
  }

  /** Takes down what `compile` has just left in the model. */
  compiled(model: tf.LayersModel): void {
    this.forget();
    this.#optimizer = compiledOf(model).optimizer_ ?? null;
    this.#functions = functionsOf(model);
  }

  /** Why no step of this model and purpose is captured; null: nothing speaks against it. */
  whyNot(model: tf.LayersModel, purpose: Purpose): string | null {
    return (
      this.whyNotPlain(model, purpose) ??
      (tf.getBackend() === BACKEND_NAME
        ? null
        : `the backend is ${tf.getBackend()}, and only ${BACKEND_NAME} captures steps`)
    );
  }

  /** What speaks against a model itself, whatever the backend; null: nothing. */
  whyNotPlain(model: tf.LayersModel, purpose: Purpose): string | null {
    const optimizer = compiledOf(model).optimizer_ ?? null;
    if (optimizer !== this.#optimizer) {
      this.#optimizer = optimizer;
      this.forget();
    }
    if (!this.#reasons.has(purpose)) this.#setReason(purpose, whyNotPlain(model, purpose));
    if (purpose !== 'predict' && this.#reasons.get(purpose) === null && !this.#hasItsFunctions(model)) {
      this.#setReason(purpose, 'its losses or metrics are others than those it was compiled with');
    }
    return this.#reasons.get(purpose)!;
  }

  #hasItsFunctions(model: tf.LayersModel): boolean {
    const functions = functionsOf(model);
    // Compiled before this package was there.
    this.#functions ??= functions;
    return functions.length === this.#functions.length && functions.every((each, i) => each === this.#functions![i]);
  }

  #setReason(purpose: Purpose, reason: string | null): void {
    this.#reasons.set(purpose, reason);
    if (reason === null) return;
    for (const [key, signature] of this.#signatures) {
      if (signature.purpose !== purpose) continue;
      this.#release(signature);
      this.#signatures.delete(key);
    }
  }

  #release(signature: Signature): void {
    if (signature.graph === null) return;
    signature.graph.release();
    this.list.graphs.delete(signature.graph);
    signature.graph = null;
  }

  /** Gives up all graphs; steps are recorded again. */
  forget(): void {
    this.list.release();
    this.#signatures.clear();
    this.#reasons.clear();
  }

  /** Runs one step; the caller has asked `whyNot`. */
  step(model: tf.LayersModel, eager: EagerStep, data: StepData, purpose: Purpose): tf.Tensor[] {
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
    let key = `${purpose} ${kindOf(data)} `;
    // Frozen layers are trained by other steps, and evaluated and predicted by the same.
    const trained = purpose === 'train' ? compiledOf(model).collectedTrainableWeights : [];
    for (const weight of trained) key += (weight.read() as tf.Variable).trainable ? '1' : '0';
    const known = this.#signatures.get(key);
    if (known !== undefined) return known;
    const ofPurpose = [...this.#signatures.values()].filter((each) => each.purpose === purpose);
    if (ofPurpose.length >= MOST_SIGNATURES) return null;
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
    this.#release(signature);
    Object.assign(signature, { watched: null, recording: null, runs: 0 });
    this.#countChange(signature, field ?? 'a variable');
  }

  #countChange(signature: Signature, field: string): void {
    // It may have been a function, and the new one may be anybody's.
    this.#reasons.delete(signature.purpose);
    signature.changes += 1;
    if (signature.changes > MOST_CHANGES) signature.refused ??= `${field} changes from step to step`;
  }

  #record(model: tf.LayersModel, signature: Signature, eager: EagerStep, data: StepData): tf.Tensor[] {
    const backend = asNodeBackend(tf.backend());
    const { results, recording } = record(backend, data, () => eager(data), ownVariables(model));
    if (!recording.isTypical && recording.problem === null) {
      this.#countChange(signature, 'whether there are ids at all');
      return results;
    }
    const first = signature.recording;
    const field = first === null ? null : signature.watched!.changed();
    signature.refused = recording.problem ?? (first === null || field !== null ? null : difference(first, recording));
    signature.recording = recording;
    signature.watched = watchedModel(model, signature.purpose);
    // What changed between the two steps was no matter of the step itself: this one is the first of two then.
    if (field !== null) this.#countChange(signature, field);
    else if (signature.refused === null && first !== null) this.#build(model, signature, recording);
    if (signature.refused !== null || signature.graph !== null) signature.recording = null;
    return results;
  }

  #build(model: tf.LayersModel, signature: Signature, recording: Recording): void {
    const { purpose } = signature;
    const kinds = asNodeBackend(tf.backend()).binding as unknown as AttributeKinds;
    const fewer = fewerOps(recording, kinds);
    signature.refused = whyUnsound(recording) ?? whyUnsound(fewer);
    // Somebody's function may have come since that was looked at, and be part of both recordings.
    this.#reasons.delete(purpose);
    if (signature.refused !== null || this.whyNot(model, purpose) !== null) return;
    try {
      signature.graph = new StepGraph(this.addon, fewer);
    } catch (error) {
      signature.refused = `TensorFlow refuses its graph: ${(error as Error).message}`;
      return;
    }
    this.list.graphs.add(signature.graph);
  }

  #repeat(model: tf.LayersModel, signature: Signature, eager: EagerStep, data: StepData): tf.Tensor[] {
    let results: tf.Tensor[];
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

/** What a step of the model takes for its losses and metrics, the functions one by one. */
function functionsOf(model: tf.LayersModel): readonly unknown[] {
  const { loss, metrics, lossFunctions = [], metricsTensors = [] } = compiledOf(model) as Partial<Compiled>;
  return [loss, metrics, ...lossFunctions, '|', ...metricsTensors.flat()];
}

/** The variables of the weights of a model, each in memory of its own: what a step reads tells which it is. */
function ownVariables(model: tf.LayersModel): tf.Variable[] {
  const ownership = Ownership.of(asNodeBackend(tf.backend()));
  const variables = [...new Set(model.weights.map((weight) => weight.read() as tf.Variable))];
  const seen = new Set<object>();
  for (const variable of variables) {
    if (seen.has(variable.dataId)) {
      // Our copying op is one of floats; packed rows are integers.
      if (variable.dtype === 'float32') ownership.makeWritable(variable);
      else tf.tidy(() => variable.assign(tf.tensor(variable.dataSync().slice(), variable.shape, variable.dtype)));
    }
    seen.add(variable.dataId);
  }
  return variables;
}
