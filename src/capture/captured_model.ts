/** The steps of one model, and what they take from it. */
import * as tf from '@tensorflow/tfjs';
import { BACKEND_NAME } from '../backends/tensorflow/node_backend.js';
import { warnOnce } from '../base/warn_once.js';
import { whileFeeding } from '../tfjs/uncast_inputs.js';
import { CapturedSteps, type Stepping } from './captured_steps.js';
import { isPure } from './functions/pure.js';
import { compiledOf, whyNotBackend, type Compiled, type Purpose } from './steps.js';
import { functionText, leaves, whyNotPlain } from './plain_model.js';
import { kindOf, MOST_SIGNATURES, type GivenStep, type GraphList } from './signatures.js';
import type { GraphAddon } from './step_graph.js';
import { watchedModel } from './watched_model.js';

/** It is kept by its model in a weak map, and may hold it: neither keeps the other alive. */
export class CapturedModel {
  readonly #steps: CapturedSteps;
  /** Why no step of a purpose is captured; none: that was not looked at since `compile`. */
  readonly #reasons = new Map<Purpose, string | null>();
  #optimizer: tf.Optimizer | null = null;
  /** Losses and metrics as `compile` left them; null: it was not called. */
  #functions: readonly unknown[] | null = null;
  /** Why a pure function is none; null: no comparison found that. */
  #broken: string | null = null;

  constructor(
    private readonly model: tf.LayersModel,
    addon: GraphAddon,
    private readonly list: GraphList,
  ) {
    const stepping: Stepping = {
      comparesAll: false,
      whyNot: (purpose) => this.whyNot(purpose),
      changed: (purpose) => void this.#reasons.delete(purpose),
      watched: (purpose) => watchedModel(model, purpose),
      variables: () => model.weights.map((weight) => weight.read() as tf.Variable),
      stepped(purpose) {
        const optimizer = compiledOf(model).optimizer_ as unknown as { incrementIterations(): void };
        if (purpose === 'train') optimizer.incrementIterations();
      },
      evicted: () => warnOfKinds(model),
      promises: (purpose) => purpose !== 'predict' && isPromised(model),
      broken: (purpose, reason) => this.#breakPromise(purpose, reason),
    };
    this.#steps = new CapturedSteps(stepping, addon, list);
  }

  /** Why steps of some kind run op by op; null where all kinds of them are captured or about to be. */
  reason(): string | null {
    // A model that was never compiled may predict all the same.
    const isCompiled = (compiledOf(this.model).optimizer_ ?? null) !== null;
    const purpose = !isCompiled && this.#reasons.has('predict') ? 'predict' : 'train';
    return this.whyNot(purpose) ?? this.#steps.refused ?? (this.captured > 0 ? null : this.#whyNever());
  }

  /** Kinds of steps that run as one call; graphs wait while another backend is in use. */
  get captured(): number {
    return tf.getBackend() === BACKEND_NAME ? this.list.graphs.size : 0;
  }

  /** Kinds of steps that gave way to others since the model was compiled. */
  get evictions(): number {
    return this.#steps.evictions;
  }

  /** Where kinds of steps give way before they are captured. */
  #whyNever(): string | null {
    return this.evictions === 0 ? null : `they are of more than ${MOST_SIGNATURES} kinds, which take turns`;
  }

  /** Snapshots what `compile` has just left in the model. */
  compiled(): void {
    this.forget();
    this.#broken = null;
    this.#optimizer = compiledOf(this.model).optimizer_ ?? null;
    this.#functions = functionsOf(this.model);
  }

  /** Why no step of this model and purpose is captured; null: nothing speaks against it. */
  whyNot(purpose: Purpose): string | null {
    return this.whyNotPlain(purpose) ?? whyNotBackend();
  }

  /** What speaks against a model itself, whatever the backend; null: nothing. */
  whyNotPlain(purpose: Purpose): string | null {
    const optimizer = compiledOf(this.model).optimizer_ ?? null;
    if (optimizer !== this.#optimizer) {
      this.#optimizer = optimizer;
      this.forget();
    }
    if (!this.#reasons.has(purpose)) this.#setReason(purpose, whyNotPlain(this.model, purpose));
    if (purpose !== 'predict' && this.#reasons.get(purpose) === null) {
      const changed = 'its losses or metrics are others than those it was compiled with';
      const reason = this.#broken ?? (this.#hasItsFunctions() ? null : changed);
      if (reason !== null) this.#setReason(purpose, reason);
    }
    return this.#reasons.get(purpose)!;
  }

  #hasItsFunctions(): boolean {
    const functions = functionsOf(this.model);
    // Compiled before this package was there.
    this.#functions ??= functions;
    return functions.length === this.#functions.length && functions.every((each, i) => each === this.#functions![i]);
  }

  #setReason(purpose: Purpose, reason: string | null): void {
    this.#reasons.set(purpose, reason);
    if (reason !== null) this.#steps.drop(purpose);
  }

  /** Gives up all graphs; steps are recorded again. */
  forget(): void {
    this.#steps.forget();
    this.#reasons.clear();
  }

  /** Runs one step; the caller has asked `whyNot`. */
  step(given: Omit<GivenStep, 'kind'>): tf.Tensor[] {
    // Frozen layers are trained by other steps, and evaluated and predicted by the same.
    const trained = given.purpose === 'train' ? compiledOf(this.model).collectedTrainableWeights : [];
    const frozen = trained.map((weight) => ((weight.read() as tf.Variable).trainable ? '1' : '0'));
    return this.#steps.run({ ...given, kind: `${kindOf(given.data, given.open)} ${frozen.join('')}` });
  }

  /** Compares the steps of a model whose losses or metrics are pure by a promise, once more. */
  verify(): void {
    if (tf.getBackend() !== BACKEND_NAME) return;
    whileFeeding(() => (['train', 'evaluate'] as const).every((purpose) => this.#steps.verify(purpose)));
  }

  #breakPromise(purpose: Purpose, reason: string): void {
    const { loss, metrics } = compiledOf(this.model);
    const marked = [...new Set(leaves([loss, metrics]).filter(isPure).map(functionText))].join(', or ');
    this.#broken = `a loss or metric that was marked by emb.pure (${marked}) does not depend on its tensors alone: ${reason}`;
    this.#setReason(purpose, this.#broken);
    console.warn(
      `tfjs-embeddings: steps of model ${this.model.name} run op by op from now on, because ${this.#broken}.`,
    );
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

/** Whether a loss or metric was marked as pure. */
function isPromised(model: tf.LayersModel): boolean {
  const { loss, metrics } = compiledOf(model);
  return leaves([loss, metrics]).some(isPure);
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
