/** The steps of one model: op by op, recorded, or repeated as one op. */
import * as tf from '@tensorflow/tfjs';
import { asNodeBackend, BACKEND_NAME } from '../backends/tensorflow/node_backend.js';
import { Ownership } from '../backends/tensorflow/ownership.js';
import type { EagerStep, StepData } from '../tfjs/training/model_steps.js';
import { warnOnce } from '../base/warn_once.js';
import { AskedRates } from './asked_rates.js';
import { compiledOf, type Compiled, type Purpose } from './steps.js';
import { whyNotPlain } from './plain_model.js';
import { fewerOps } from './fewer_ops/fewer_ops.js';
import type { AttributeKinds } from './graph_def.js';
import { record, type OpenPlaces } from './recorder.js';
import { difference, type Recording } from './recording.js';
import { MOST_SIGNATURES, Signatures, type GraphList, type Signature } from './signatures.js';
import { whyUnsound } from './sound.js';
import { StepGraph, failedWriting, type GraphAddon, type LiveNumbers } from './step_graph.js';
import { watchedModel } from './watched_model.js';

/** A field that changes more often is one that changes all the time. */
const MOST_CHANGES = 8;

/** A step that is to run. */
export interface GivenStep {
  readonly purpose: Purpose;
  /** Runs it op by op. */
  readonly eager: EagerStep;
  readonly data: StepData;
  /** Where the data have any number of rows. */
  readonly open?: OpenPlaces | undefined;
}

/** What makes data of one kind: shapes, dtypes, and which tensors are the same; how many rows a data set has is no matter. */
function kindOf({ data, open }: GivenStep): string {
  const seen: object[] = [];
  return data
    .map((tensor, place) => {
      if (tensor === null || tensor === undefined) return '-';
      const same = seen.indexOf(tensor.dataId);
      seen.push(tensor.dataId);
      const sizes: unknown[] = open?.has(place) === true ? ['rows', ...tensor.shape.slice(1)] : tensor.shape;
      return `${sizes.join('x')}${tensor.dtype[0]}${same < 0 ? '' : same}`;
    })
    .join();
}

export class CapturedModel {
  readonly #signatures: Signatures;
  /** Why no step of a purpose is captured; none: that was not looked at since `compile`. */
  readonly #reasons = new Map<Purpose, string | null>();
  #optimizer: tf.Optimizer | null = null;
  /** Losses and metrics as `compile` left them; null: it was not called. */
  #functions: readonly unknown[] | null = null;

  constructor(
    private readonly addon: GraphAddon,
    private readonly list: GraphList,
  ) {
    this.#signatures = new Signatures(list);
  }

  /** Why steps of some kind run op by op; null where all kinds of them are captured or about to be. */
  reason(model: tf.LayersModel): string | null {
    // A model that was never compiled may predict all the same.
    const isCompiled = (compiledOf(model).optimizer_ ?? null) !== null;
    const purpose = !isCompiled && this.#reasons.has('predict') ? 'predict' : 'train';
    return this.whyNot(model, purpose) ?? this.#signatures.refused ?? (this.captured > 0 ? null : this.#whyNever());
  }

  /** Kinds of steps that run as one call; graphs wait while another backend is in use. */
  get captured(): number {
    return tf.getBackend() === BACKEND_NAME ? this.list.graphs.size : 0;
  }

  /** Kinds of steps that gave way to others since the model was compiled. */
  get evictions(): number {
    return this.#signatures.evictions;
  }

  /** Where kinds of steps give way before they are captured. */
  #whyNever(): string | null {
    return this.evictions === 0 ? null : `they are of more than ${MOST_SIGNATURES} kinds, which take turns`;
  }

  /** Snapshots what `compile` has just left in the model. */
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
    if (reason !== null) this.#signatures.drop(purpose);
  }

  /** Gives up all graphs; steps are recorded again. */
  forget(): void {
    this.#signatures.clear();
    this.#reasons.clear();
  }

  /** Runs one step; the caller has asked `whyNot`. */
  step(model: tf.LayersModel, given: GivenStep): tf.Tensor[] {
    const { eager, data } = given;
    const signature = this.#signatureOf(model, given);
    if (signature.refused !== null) return eager(data);
    if (signature.graph !== null) {
      if (signature.graph.takesVariable(data)) return eager(data);
      if (this.#isCurrent(signature)) return this.#repeat(model, signature, given);
      this.#giveUp(signature);
    }
    signature.runs += 1;
    // The first step makes slots, and the first buffers that can be written in place.
    if (signature.runs === 1 || signature.refused !== null) return eager(data);
    return this.#record(model, signature, given);
  }

  #signatureOf(model: tf.LayersModel, given: GivenStep): Signature {
    const { purpose } = given;
    // Frozen layers are trained by other steps, and evaluated and predicted by the same.
    const trained = purpose === 'train' ? compiledOf(model).collectedTrainableWeights : [];
    const frozen = trained.map((weight) => ((weight.read() as tf.Variable).trainable ? '1' : '0'));
    const { evictions } = this;
    const signature = this.#signatures.of(purpose, `${kindOf(given)} ${frozen.join('')}`);
    if (this.evictions > evictions) warnOfKinds(model);
    return signature;
  }

  #isCurrent({ graph, watched }: Signature): boolean {
    return graph!.isWhole && watched!.changed() === null;
  }

  #giveUp(signature: Signature): void {
    const field = signature.watched!.changed();
    this.#signatures.release(signature);
    Object.assign(signature, { watched: null, recording: null, runs: 0 });
    this.#countChange(signature, `${field ?? 'a variable'} changes from step to step`);
  }

  #countChange(signature: Signature, reason: string): void {
    // It may have been a function, and the new one is not checked yet.
    this.#reasons.delete(signature.purpose);
    signature.changes += 1;
    if (signature.changes > MOST_CHANGES) signature.refused ??= reason;
  }

  #record(model: tf.LayersModel, signature: Signature, { eager, data, open }: GivenStep): tf.Tensor[] {
    const backend = asNodeBackend(tf.backend());
    const known = { own: ownVariables(model), open };
    const { results, recording } = record(backend, data, () => eager(data), known);
    if (!recording.isTypical && recording.problem === null) {
      this.#countChange(signature, 'some batches have no ids');
      return results;
    }
    const first = signature.recording;
    const field = first === null ? null : signature.watched!.changed();
    signature.refused = recording.problem ?? (first === null || field !== null ? null : difference(first, recording));
    signature.recording = recording;
    signature.watched = watchedModel(model, signature.purpose).watched;
    // What changed between the two steps was no matter of the step itself: this one is the first of two then.
    if (field !== null) this.#countChange(signature, `${field} changes from step to step`);
    else if (signature.refused === null && first !== null) this.#build(model, signature, recording);
    if (signature.refused !== null || signature.graph !== null) signature.recording = null;
    return results;
  }

  #build(model: tf.LayersModel, signature: Signature, recording: Recording): void {
    const { purpose } = signature;
    const kinds = asNodeBackend(tf.backend()).binding as unknown as AttributeKinds;
    const fewer = fewerOps(recording, kinds);
    signature.refused = whyUnsound(recording) ?? whyUnsound(fewer);
    // A user's function may have come since the last check, and be part of both recordings.
    this.#reasons.delete(purpose);
    if (signature.refused !== null || this.whyNot(model, purpose) !== null) return;
    try {
      this.#signatures.setGraph(signature, new StepGraph(this.addon, fewer));
    } catch (error) {
      signature.refused = `TensorFlow refuses its graph: ${(error as Error).message}`;
    }
  }

  #repeat(model: tf.LayersModel, signature: Signature, given: GivenStep): tf.Tensor[] {
    const graph = signature.graph!;
    const { made, rates } = AskedRates.during(graph.variables, () => graph.makeLive());
    try {
      if (rates.changedVariables) {
        signature.refused = 'its learning rate is a function that changes variables';
        this.#signatures.release(signature);
      }
      // A step that cannot run fails op by op before it asks for rates, or in the same words.
      if (made === null || rates.changedVariables) return rates.replay(() => given.eager(given.data));
      return this.#run(model, signature, given, { made, rates });
    } finally {
      rates.release();
    }
  }

  #run(
    model: tf.LayersModel,
    signature: Signature,
    { eager, data }: GivenStep,
    { made, rates }: { readonly made: LiveNumbers; readonly rates: AskedRates },
  ): tf.Tensor[] {
    let results: tf.Tensor[];
    try {
      results = signature.graph!.run(data, made);
    } catch (error) {
      if (failedWriting(error)) throw error;
      // Nothing was written. Op by op the step says what is wrong in words of layers and inputs.
      const eagerResults = rates.replay(() => eager(data));
      // Such as a layer that met padding: the steps after it are others.
      if (this.#isCurrent(signature)) {
        signature.refused = `TensorFlow cannot run its graph: ${(error as Error).message}`;
        this.#signatures.release(signature);
      } else {
        this.#giveUp(signature);
      }
      return eagerResults;
    }
    const optimizer = compiledOf(model).optimizer_ as unknown as { incrementIterations(): void };
    if (signature.purpose === 'train') optimizer.incrementIterations();
    return results;
  }
}

/** Tells, once for each model, that a graph was given up for lack of room. */
function warnOfKinds({ name }: tf.LayersModel): void {
  warnOnce(
    `the steps of model ${name} are of more than ${MOST_SIGNATURES} kinds (shapes of batches, trainable variables): ` +
      'the graph that was not used for longest gives way to each further one, whose first steps run op by op. ' +
      'Batches of fewer shapes keep their graphs; emb.stepInfo(model).evictions counts those that gave way.',
    `kinds of steps of ${name}`,
  );
}

/** What a step of the model takes for its losses and metrics, the functions one by one. */
function functionsOf(model: tf.LayersModel): readonly unknown[] {
  const { loss, metrics, lossFunctions = [], metricsTensors = [] } = compiledOf(model) as Partial<Compiled>;
  return [loss, metrics, ...elementsOf(lossFunctions), '|', ...metricsTensors.flat()];
}

/** The elements of a list; of one behind a getter, which may give another each time, the getter. */
function elementsOf(list: readonly unknown[]): unknown[] {
  return list.map((_, i) => {
    const { value, get } = Object.getOwnPropertyDescriptor(list, i) ?? {};
    return get ?? (value as unknown);
  });
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
