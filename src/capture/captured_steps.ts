/** Steps of one model or function: op by op, recorded, or repeated as one op. */
import * as tf from '@tensorflow/tfjs';
import { whileAnswering } from '../backends/recordings.js';
import { asNodeBackend } from '../backends/tensorflow/node_backend.js';
import type { StepData } from '../tfjs/training/step_runner.js';
import { AskedRates } from './asked_rates.js';
import { COMPARISONS } from './functions/comparisons.js';
import type { Purpose } from './steps.js';
import { fewerOps } from './fewer_ops/fewer_ops.js';
import type { AttributeKinds } from './graph_def.js';
import { record } from './recorder.js';
import { difference, isOutgrown, type Recording } from './recording.js';
import { Signatures, type GivenStep, type GraphList, type Signature } from './signatures.js';
import { whyUnsound, withOwnMemory } from './sound.js';
import { whyUnsized } from './sizes.js';
import { StepGraph, type GraphAddon, type LiveNumbers } from './step_graph.js';
import type { WatchedFields } from './watched_fields.js';

/** A field that changes more often is one that changes all the time. */
const MOST_CHANGES = 8;

/** What steps: a model, or a function of the user. */
export interface Stepping {
  /** Why no step of a purpose is captured; null: nothing speaks against it. */
  whyNot(purpose: Purpose): string | null;
  /** What it reaches may be another from now on. */
  changed(purpose: Purpose): void;
  /** What a recorded step depends on beside its tensors, and what of it is not known. */
  watched(purpose: Purpose, recording: Recording): Watched;
  /** Variables of its own. */
  variables(): readonly tf.Variable[];
  /** Called after a step that ran as one op. */
  stepped(purpose: Purpose, recording: Recording): void;
  /** Called when a kind of step gave way to another. */
  evicted(): void;
  /** Whether users promise that steps depend on their tensors alone, so that recordings are compared from time to time. */
  promises(purpose: Purpose): boolean;
  /** Called where a comparison finds that the promise does not hold. */
  broken(purpose: Purpose, reason: string): void;
  /** Whether each step is compared. */
  readonly comparesAll: boolean;
}

export interface Watched {
  readonly watched: WatchedFields;
  /** In a sentence; null: all of it is known. */
  readonly unknown: string | null;
}

export class CapturedSteps {
  readonly #signatures: Signatures;

  constructor(
    private readonly stepping: Stepping,
    private readonly addon: GraphAddon,
    list: GraphList,
  ) {
    this.#signatures = new Signatures(list);
  }

  /** Why a step of some kind was refused; null: none was. */
  get refused(): string | null {
    return this.#signatures.refused;
  }

  /** Kinds of steps that gave way to others. */
  get evictions(): number {
    return this.#signatures.evictions;
  }

  /** Gives up all graphs; steps are recorded again. */
  forget(): void {
    this.#signatures.clear();
  }

  /** Gives up the graphs of one purpose. */
  drop(purpose: Purpose): void {
    this.#signatures.drop(purpose);
  }

  /** Why steps of a kind run op by op; null: nothing speaks against it. */
  whyNot(purpose: Purpose, kind: string): string | null {
    return this.#signatures.known(purpose, kind)?.refused ?? null;
  }

  /** Runs one step; the caller has asked `whyNot` of the model or function. */
  run(given: GivenStep): tf.Tensor[] {
    const { eager, data } = given;
    const signature = this.#signatureOf(given);
    signature.steps += 1;
    if (signature.refused !== null) return eager(data);
    if (signature.graph !== null) {
      if (signature.graph.takesVariable(data)) return eager(data);
      if (this.#isCurrent(signature)) return this.#repeatOrCompare(signature, given);
      this.#giveUp(signature);
    }
    signature.runs += 1;
    // The first step makes slots, and the first buffers that can be written in place.
    if (signature.runs === 1 || signature.refused !== null) return eager(data);
    return this.#record(signature, given);
  }

  #signatureOf(given: GivenStep): Signature {
    const { evictions } = this;
    const signature = this.#signatures.of(given.purpose, given.kind);
    if (this.evictions > evictions) this.stepping.evicted();
    return signature;
  }

  #isCurrent({ graph, watched }: Signature): boolean {
    return graph!.isWhole && watched!.changed() === null;
  }

  #giveUp(signature: Signature): void {
    const field = signature.watched!.changed();
    const hasGrown = isOutgrown(signature.graph!.recording);
    this.#signatures.release(signature);
    Object.assign(signature, { watched: null, recording: null, runs: 0 });
    // A table may get rows as often as there are new ones.
    if (hasGrown) this.stepping.changed(signature.purpose);
    else this.#countChange(signature, `${field ?? 'a variable'} changes from step to step`);
  }

  #countChange(signature: Signature, reason: string): void {
    // It may have been a function, and the new one is not checked yet.
    this.stepping.changed(signature.purpose);
    signature.changes += 1;
    if (signature.changes > MOST_CHANGES) signature.refused ??= reason;
  }

  #recorded(
    { eager, data, open }: GivenStep,
    { isUndone = false } = {},
  ): { results: tf.Tensor[]; recording: Recording } {
    const backend = asNodeBackend(tf.backend());
    const known = { own: this.stepping.variables(), open, isUndone };
    return record(backend, data, () => eager(data), known);
  }

  /**
   * Records a step of which there is a recording. A tensor that both were given may also be one that the step has from
   * elsewhere: another one with the same numbers takes its place, so that the two recordings differ then.
   */
  #recordedAgain(given: GivenStep, before: StepData): { results: tf.Tensor[]; recording: Recording } {
    if (!this.stepping.promises(given.purpose)) return this.#recorded(given);
    const copies = new Map<tf.Tensor, tf.Tensor>();
    for (const tensor of new Set(given.data)) {
      if (tensor instanceof tf.Tensor && before.includes(tensor)) copies.set(tensor, tf.keep(tensor.clone()));
    }
    const originals = new Map([...copies].map(([tensor, copy]) => [copy, tensor]));
    try {
      const data = given.data.map((tensor) => copies.get(tensor!) ?? tensor);
      const { results, recording } = this.#recorded({ ...given, data });
      return { results: results.map((result) => originals.get(result) ?? result), recording };
    } finally {
      tf.dispose([...copies.values()]);
    }
  }

  #record(signature: Signature, given: GivenStep): tf.Tensor[] {
    const { results, recording } =
      signature.recording === null ? this.#recorded(given) : this.#recordedAgain(given, signature.recorded);
    const passing = recording.makesVariables ? 'it makes variables' : whyUntypical(recording);
    if (passing !== null) {
      this.#countChange(signature, passing);
      return results;
    }
    const first = signature.recording !== null && isOutgrown(signature.recording) ? null : signature.recording;
    const field = first === null ? null : signature.watched!.changed();
    signature.refused = recording.problem ?? (first === null || field !== null ? null : difference(first, recording));
    Object.assign(signature, { recording, recorded: given.data });
    // A step that reaches what the one before it did, all of it as it was, is not looked at once more.
    if (first === null || field !== null) {
      const { watched, unknown } = this.stepping.watched(signature.purpose, recording);
      Object.assign(signature, { watched, unknown });
    }
    // What changed between the two steps was no matter of the step itself: this one is the first of two then.
    if (field !== null) this.#countChange(signature, `${field} changes from step to step`);
    else if (signature.refused === null && first !== null) this.#build(signature, recording, given);
    if (signature.refused !== null || signature.graph !== null)
      Object.assign(signature, { recording: null, recorded: [] });
    return results;
  }

  #build(signature: Signature, recording: Recording, given: GivenStep): void {
    const { purpose } = signature;
    const kinds = asNodeBackend(tf.backend()).binding as unknown as AttributeKinds;
    const fewer = withOwnMemory(fewerOps(recording, kinds));
    signature.refused = whyUnsound(recording) ?? whyUnsized(recording, this.addon, kinds) ?? whyUnsound(fewer);
    // A user's function may have come since the last check, and be part of both recordings.
    if (signature.unknown !== null) this.stepping.changed(purpose);
    if (signature.refused !== null || this.stepping.whyNot(purpose) !== null) return;
    try {
      this.#signatures.setGraph(signature, new StepGraph(this.addon, fewer));
    } catch (error) {
      signature.refused = `TensorFlow refuses its graph: ${(error as Error).message}`;
      return;
    }
    if (!this.stepping.promises(purpose)) return;
    signature.promise = { recording, last: given, verified: signature.steps };
  }

  #repeatOrCompare(signature: Signature, given: GivenStep): tf.Tensor[] {
    const { promise, steps } = signature;
    if (promise === null) return this.#repeat(signature, given);
    signature.promise = { ...promise, last: given };
    if (!this.stepping.comparesAll && !COMPARISONS.has(steps)) return this.#repeat(signature, given);
    const { results, recording } = this.#recorded(given);
    this.#compare(signature, recording);
    return results;
  }

  /** Whether a new recording is as that of which the graph was made; else the promise of its user is broken. */
  #compare(signature: Signature, recording: Recording): boolean {
    const { promise, steps, purpose } = signature;
    if (promise === null || !recording.isTypical) return true;
    const found = recording.problem ?? difference(promise.recording, recording);
    if (found === null) {
      signature.promise = { ...promise, verified: steps };
      return true;
    }
    const since = promise.verified + 1;
    this.stepping.broken(
      purpose,
      `a comparison at step ${steps} found that ${found}; since step ${since} it may have given other numbers than its function`,
    );
    return false;
  }

  /**
   * Runs each kind of step once more, op by op, compares it with its recording, and puts all variables back. Returns
   * whether all of them agree.
   */
  verify(purpose: Purpose): boolean {
    return this.#signatures.ofPurpose(purpose).every((signature) => this.#verifyKind(signature));
  }

  #verifyKind(signature: Signature): boolean {
    const { graph, promise } = signature;
    if (graph === null || promise === null || !this.#isCurrent(signature)) return true;
    if (promise.last.holds?.() === false) return true;
    return tf.tidy(() => {
      const { last } = promise;
      const data = aliveOrZeros(last);
      const { recording: again } = this.#recorded({ ...last, data }, { isUndone: true });
      return this.#compare(signature, again);
    });
  }

  #repeat(signature: Signature, given: GivenStep): tf.Tensor[] {
    const graph = signature.graph!;
    const { made, rates } = AskedRates.during(graph.variables, () => graph.makeLive());
    try {
      if (rates.changedVariables) {
        signature.refused = 'its learning rate is a function that changes variables';
        this.#signatures.release(signature);
      }
      // A step that cannot run fails op by op before it asks for rates, or in the same words.
      if (made === null || rates.changedVariables) return rates.replay(() => given.eager(given.data));
      return this.#run(signature, given, { made, rates });
    } finally {
      rates.release();
    }
  }

  #run(
    signature: Signature,
    { eager, data }: GivenStep,
    { made, rates }: { readonly made: LiveNumbers; readonly rates: AskedRates },
  ): tf.Tensor[] {
    let results: tf.Tensor[];
    const graph = signature.graph!;
    try {
      results = graph.run(data, made);
    } catch (error) {
      if (graph.failedWriting(error)) throw error;
      // Nothing was written. Op by op the step says what is wrong in words of layers and inputs.
      const eagerResults = rates.replay(() => whileAnswering(made, () => eager(data)));
      // Such as a layer that met padding: the steps after it are others.
      if (this.#isCurrent(signature)) {
        signature.refused = `TensorFlow cannot run its graph: ${(error as Error).message}`;
        this.#signatures.release(signature);
      } else {
        this.#giveUp(signature);
      }
      return eagerResults;
    }
    this.stepping.stepped(signature.purpose, graph.recording);
    return results;
  }
}

/** Why a step may leave out ops that others run; null: it does not. */
function whyUntypical({ isTypical, problem }: Recording): string | null {
  return !isTypical && problem === null ? 'some batches have no ids' : null;
}

/** The data of a step; zeros of their shapes in the place of tensors that are disposed. */
function aliveOrZeros({ data, open }: GivenStep): StepData {
  const zeros = new Map<tf.Tensor, tf.Tensor>();
  return data.map((tensor, place) => {
    if (tensor === null || tensor === undefined || !tensor.isDisposed) return tensor;
    const values = open?.has(place - 1) === true ? data[place - 1] : null;
    const isSplits = values !== null && values !== undefined && tensor.dtype === 'int32' && tensor.rank === 1;
    const made =
      zeros.get(tensor) ?? (isSplits ? splitsOf(tensor, values.shape[0]!) : tf.zeros(tensor.shape, tensor.dtype));
    zeros.set(tensor, made);
    return made;
  });
}

/** Splits of rows of which the last one has all values. */
function splitsOf({ size }: tf.Tensor, values: number): tf.Tensor1D {
  const splits = new Int32Array(size);
  if (size > 0) splits[size - 1] = values;
  return tf.tensor1d(splits, 'int32');
}
