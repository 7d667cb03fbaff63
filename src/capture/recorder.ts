/** Watches one step on the tfjs-node backend and writes down which ops it ran on what. */
import * as tf from '@tensorflow/tfjs';
import { makerOf, type LiveValues, whileRecording } from '../backends/recordings.js';
import type { NodeBackend, OpAttribute, TensorRecord } from '../backends/tensorflow/node_backend.js';
import { variableText } from '../lookup/lookup.js';
import { asOwn } from '../tfjs/engine/own_functions.js';
import type { StepData } from '../tfjs/training/model_steps.js';
import { withRateCalls, type AskRate } from '../lookup/training/optimizer_settings.js';
import {
  isInPlace,
  writtenInputs,
  type Constant,
  type Feed,
  type Rebound,
  type RecordedOp,
  type Recording,
} from './recording.js';
import { openOutputs } from './row_counts.js';
import { PURE_OPS } from './fewer_ops/simplified.js';

/** What tfjs-node keeps of a tensor beside what the rest of this package uses. */
interface FullRecord extends TensorRecord {
  readonly shape: readonly number[];
  readonly dtype: number;
}

interface ReadableBackend extends NodeBackend {
  readonly tensorMap: { get(dataId: object): FullRecord; has(dataId: object): boolean };
  readSync(dataId: object): ArrayBufferView;
}

/** Numbers of a tensor that is taken as a constant, where ops made it of constants. */
const MOST_FOLDED = 2 ** 18;

class Recorder {
  readonly ops: RecordedOp[] = [];
  readonly feeds: Feed[] = [];
  readonly constants: Constant[] = [];
  problem: string | null = null;
  /** Whether no tensor is empty whose size the ids decide: JavaScript may leave out what is empty. */
  isTypical = true;
  readonly #places = new Map<object, string>();
  /** Arrays that several tensors of the step are made of. */
  readonly #ofArrays = new Map<LiveValues, { name: string; shape: readonly number[] }>();
  /** Places whose first size is open: the ids decide it, or the data set. */
  readonly #open = new Set<string>();
  readonly #written = new Set<string>();
  #variables = new Map<object, tf.Variable>();
  #isReading = false;

  constructor(
    private readonly backend: ReadableBackend,
    private readonly own: readonly tf.Variable[],
  ) {
    this.#listVariables();
  }

  #listVariables(): void {
    // A variable of the user may share its tensor with one of the step's own, until either is given another one.
    const all = [...Object.values(tf.engine().registeredVariables), ...this.own];
    this.#variables = new Map(all.map((variable) => [variable.dataId, variable]));
  }

  refuse(problem: string): void {
    this.problem ??= problem;
  }

  addData(data: StepData, open: OpenPlaces): void {
    data.forEach((tensor, place) => {
      if (tensor === null || tensor === undefined || this.#places.has(tensor.dataId)) return;
      const { dtype } = this.backend.tensorMap.get(tensor.dataId);
      if (this.#variables.has(tensor.dataId)) this.refuse('a variable is given as a batch');
      const name = `data${place}`;
      this.#places.set(tensor.dataId, name);
      // Rows of other types are not taken by an op of ours.
      const isOpen = open.has(place) && (tensor.dtype === 'float32' || tensor.dtype === 'int32');
      if (isOpen) this.#open.add(name);
      this.feeds.push({ name, kind: 'data', place, type: dtype, shape: isOpen ? null : tensor.shape });
    });
  }

  /** Where a tensor comes from, by name. */
  placeOf({ dataId }: { readonly dataId: object }): string {
    const known = this.#places.get(dataId);
    if (known !== undefined) return known;
    const place = this.#newPlace(dataId);
    this.#places.set(dataId, place);
    return place;
  }

  #newPlace(dataId: object): string {
    const { values, shape, dtype: type } = this.backend.tensorMap.get(dataId);
    if (!this.#variables.has(dataId)) this.#listVariables();
    const variable = this.#variables.get(dataId);
    const name = `${variable === undefined ? 'value' : 'variable'}${this.feeds.length + this.constants.length}`;
    if (variable !== undefined) {
      this.feeds.push({ name, kind: 'variable', variable, type, shape });
      return name;
    }
    const array = ArrayBuffer.isView(values) ? (values as LiveValues) : null;
    const known = array === null ? undefined : this.#ofArrays.get(array);
    if (known !== undefined && known.shape.join() === shape.join()) return known.name;
    if (array !== null) this.#ofArrays.set(array, { name, shape });
    const make = array === null ? undefined : makerOf(array);
    if (make !== undefined) this.feeds.push({ name, kind: 'live', make, type, shape });
    else this.constants.push({ name, type, shape, values: this.#valuesOf(dataId) });
    return name;
  }

  #valuesOf(dataId: object): ArrayBufferView {
    this.#isReading = true;
    try {
      const values = this.backend.readSync(dataId) as Float32Array;
      if (!ArrayBuffer.isView(values)) {
        this.refuse('it uses a tensor of texts');
        return new Float32Array(0);
      }
      return values.slice();
    } finally {
      this.#isReading = false;
    }
  }

  /** Called before an op runs. */
  before(name: string, inputs: readonly tf.TensorInfo[]): { places: string[]; types: number[] } {
    if (inputs.some(({ dataId }) => dataId === undefined)) {
      this.refuse(`${name} takes a 64-bit number`);
      return { places: [], types: [] };
    }
    const places = inputs.map((input) => this.placeOf(input));
    const types = inputs.map(({ dataId }) => this.backend.tensorMap.get(dataId).dtype);
    return { places, types };
  }

  after(
    name: string,
    attributes: readonly OpAttribute[],
    inputs: readonly tf.TensorInfo[],
    { places, types }: { places: readonly string[]; types: readonly number[] },
    outputs: readonly tf.Tensor[],
  ): void {
    // A copy before a step in place: replays make it beforehand.
    if (name === 'EmbeddingCopy' && this.#isVariable(places[0])) {
      this.#places.set(outputs[0]!.dataId, places[0]!);
      return;
    }
    if (this.#isConstant(name, places, outputs)) {
      this.#addConstant(outputs[0]!);
      return;
    }
    const node = `op${this.ops.length}`;
    const isOpen = this.#openOutputs(name, attributes, places, inputs);
    const kinds = outputs.map(({ dataId }, i) => {
      const { shape, dtype: type } = this.backend.tensorMap.get(dataId);
      return { type, shape: isOpen[i] === true ? null : shape };
    });
    const op = { node, name, attributes, inputs: places, inputTypes: types, outputs: kinds };
    this.ops.push(op);
    if (places.some((place) => this.#written.has(place)) && !isInPlace(op)) {
      this.refuse(`${name} reads a variable after it was stepped`);
    }
    if (isInPlace(op)) for (const place of writtenInputs(op)) this.#written.add(place);
    outputs.forEach((output, i) => {
      const place = i === 0 ? node : `${node}:${i}`;
      this.#places.set(output.dataId, place);
      if (isOpen[i] !== true) return;
      this.#open.add(place);
      if (output.size === 0) this.isTypical = false;
    });
  }

  /** Whether an op gives the same in every step, and little of it. */
  #isConstant(name: string, places: readonly string[], outputs: readonly tf.Tensor[]): boolean {
    if (!PURE_OPS.has(name) || outputs.length !== 1 || outputs[0]!.size > MOST_FOLDED) return false;
    return places.every((place) => this.constants.some((constant) => constant.name === place));
  }

  #addConstant({ dataId }: tf.Tensor): void {
    const { shape, dtype: type } = this.backend.tensorMap.get(dataId);
    const name = `value${this.feeds.length + this.constants.length}`;
    this.constants.push({ name, type, shape, values: this.#valuesOf(dataId) });
    this.#places.set(dataId, name);
  }

  #openOutputs(
    name: string,
    attributes: readonly OpAttribute[],
    places: readonly string[],
    inputs: readonly tf.TensorInfo[],
  ): readonly boolean[] {
    const isOpen = places.map((place) => this.#open.has(place));
    const found = openOutputs({ name, attributes, isOpen, ranks: inputs.map(({ shape }) => shape.length) });
    if (found === null) this.refuse(`${name} takes gradients of rows, whose number changes from step to step`);
    return found ?? [];
  }

  #isVariable(place: string | undefined): boolean {
    return this.feeds.some(({ name, kind }) => kind === 'variable' && name === place);
  }

  /** Runs a function that gives a rate, which is no part of the step: it is called anew for each. */
  askRate(call: () => unknown): unknown {
    const count = this.ops.length + this.constants.length;
    const rate = call();
    if (this.ops.length + this.constants.length > count) this.refuse('its learning rate is a function that runs ops');
    return rate;
  }

  /** Called when JavaScript reads a tensor. */
  reads(dataId: object): void {
    if (this.#isReading) return;
    const place = this.#places.get(dataId);
    const isConstant =
      place === undefined ? !this.#variables.has(dataId) : this.constants.some((c) => c.name === place);
    if (!isConstant) this.refuse('JavaScript reads a tensor within the step');
  }

  /** Variables that point to other tensors than `before` the step. */
  rebound(before: ReadonlyMap<tf.Variable, object>): Rebound[] {
    const found: Rebound[] = [];
    for (const [variable, dataId] of before) {
      if (variable.isDisposed || variable.dataId === dataId) continue;
      const place = this.#places.get(variable.dataId);
      if (place === undefined) {
        // A copy that was made so that the variable can be stepped in place is known; anything else came from elsewhere.
        this.refuse(`variable ${variableText(variable)} is given a tensor that no op made`);
        continue;
      }
      const feed = this.feeds.find(({ name }) => name === place);
      if (feed?.kind === 'variable' && feed.variable === variable) continue;
      if (feed !== undefined) this.refuse(`variable ${variableText(variable)} is given a tensor from outside the step`);
      found.push({ variable, place });
    }
    return found;
  }
}

/** Places in the data of tensors of any first size: whole data sets, of which the step takes rows, and ragged values. */
export type OpenPlaces = ReadonlySet<number>;

/** What is known of a step beforehand. */
export interface Known {
  /** Variables of its own. */
  readonly own?: readonly tf.Variable[];
  readonly open?: OpenPlaces | undefined;
}

/** Runs a step and records it. What the step throws passes through. */
export function record(
  node: NodeBackend,
  data: StepData,
  step: () => tf.Tensor[],
  { own = [], open = new Set() }: Known = {},
): { results: tf.Tensor[]; recording: Recording } {
  const backend = node as ReadableBackend;
  const recorder = new Recorder(backend, own);
  recorder.addData(data, open);
  const before = new Map(Object.values(tf.engine().registeredVariables).map((each) => [each, each.dataId as object]));
  const { executeSingleOutput, executeMultipleOutputs, getInputTensorIds, readSync } = backend;
  let isSeen = false;
  const seen = <T>(run: () => T): T => {
    isSeen = true;
    try {
      return run();
    } finally {
      isSeen = false;
    }
  };
  backend.executeSingleOutput = asOwn((name, attributes, inputs) => {
    const given = recorder.before(name, inputs);
    const output = seen(() => executeSingleOutput.call(backend, name, attributes, inputs));
    recorder.after(name, attributes, inputs, given, [output]);
    return output;
  });
  backend.executeMultipleOutputs = asOwn((name, attributes, inputs, count) => {
    const given = recorder.before(name, inputs);
    const outputs = seen(() => executeMultipleOutputs.call(backend, name, attributes, inputs, count));
    recorder.after(name, attributes, inputs, given, outputs);
    return outputs;
  });
  backend.getInputTensorIds = asOwn((tensors) => {
    if (!isSeen) recorder.refuse('an op runs that has no name');
    return getInputTensorIds.call(backend, tensors);
  });
  const stepped: tf.Optimizer[] = [];
  const optimizers = tf.Optimizer.prototype as unknown as { incrementIterations(this: tf.Optimizer): void };
  const { incrementIterations } = optimizers;
  optimizers.incrementIterations = asOwn(function (this: tf.Optimizer): void {
    stepped.push(this);
    incrementIterations.call(this);
  });
  const isOwn = Object.hasOwn(backend, 'readSync');
  backend.readSync = asOwn((dataId) => {
    recorder.reads(dataId);
    return readSync.call(backend, dataId);
  });
  let results: tf.Tensor[];
  try {
    const ask: AskRate = (_, call) => recorder.askRate(call);
    results = whileRecording(
      (problem) => recorder.refuse(problem),
      () => withRateCalls(ask, step),
    );
  } finally {
    Object.assign(backend, { executeSingleOutput, executeMultipleOutputs, getInputTensorIds, readSync });
    optimizers.incrementIterations = incrementIterations;
    // A method of the prototype, where it was not wrapped before.
    if (!isOwn) delete (backend as Partial<ReadableBackend>).readSync;
  }
  const rebound = recorder.rebound(before);
  const places = results.map((result) => recorder.placeOf(result));
  const { ops, feeds, constants, problem, isTypical } = recorder;
  return { results, recording: { ops, feeds, constants, rebound, stepped, results: places, problem, isTypical } };
}
