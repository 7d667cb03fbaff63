/** Watches one step on the tfjs-node backend and writes down which ops it ran on what. */
import * as tf from '@tensorflow/tfjs';
import { isLive, whileRecording, type Live, type LiveValues, type StepRecorder } from '../backends/recordings.js';
import type { NodeBackend, OpAttribute, TensorRecord } from '../backends/tensorflow/node_backend.js';
import { variableText } from '../backends/table.js';
import { asOwn } from '../tfjs/engine/own_functions.js';
import type { StepData } from '../tfjs/training/step_runner.js';
import { withRateCalls, type AskRate } from '../rules/optimizer_settings.js';
import { withOverrides } from '../tfjs/training/substitute.js';
import { Kept } from './asked_rates.js';
import { CalledLayers, inLayer } from './called_layers.js';
import { separateMemory } from './separate_memory.js';
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

interface TensorMap {
  get(dataId: object): FullRecord;
  has(dataId: object): boolean;
  set(dataId: object, record: FullRecord): void;
}

interface ReadableBackend extends NodeBackend {
  readonly tensorMap: TensorMap;
  readSync(dataId: object): ArrayBufferView;
}

/** Numbers of a tensor that is taken as a constant, where ops made it of constants. */
const MOST_FOLDED = 2 ** 18;

/**
 * Where each tensor of a step comes from is known because it was given: a batch, what a variable held when the step
 * began, numbers that each step makes anew, a constant (made by JavaScript, or there before), or the result of an op.
 */
class Recorder implements StepRecorder {
  readonly ops: RecordedOp[] = [];
  readonly feeds: Feed[] = [];
  readonly constants: Constant[] = [];
  readonly made: Live[] = [];
  problem: string | null = null;
  /** Whether no tensor is empty whose size the ids decide: JavaScript may leave out what is empty. */
  isTypical = true;
  /** The places of tensors, by their data. */
  readonly #places = new Map<object, string>();
  /** Numbers that each step makes anew: which of them, and the shapes that tensors of them have. */
  readonly #lives = new Map<LiveValues, number>();
  /** Places whose first size is open: the ids decide it, or the data set. */
  readonly #open = new Set<string>();
  readonly #written = new Set<string>();
  /** What the variables held when the step began. */
  readonly #variables: ReadonlyMap<object, tf.Variable>;
  /** Data that came during the step, and those of them that JavaScript wrote. */
  readonly #new = new WeakSet<object>();
  readonly #ofJavaScript = new WeakSet<object>();
  #isReading = false;
  readonly called = new CalledLayers();

  constructor(
    private readonly backend: ReadableBackend,
    variables: readonly tf.Variable[],
  ) {
    this.#variables = new Map(variables.map((variable) => [variable.dataId, variable]));
  }

  refuse(problem: string): void {
    this.problem ??= `${problem}${inLayer(this.called.now)}`;
  }

  lives(values: LiveValues, live: Live): void {
    this.#lives.set(values, this.made.push(live) - 1);
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

  /** Called when data come that were not there before. */
  comes(dataId: object): void {
    this.#new.add(dataId);
  }

  /** Called when JavaScript has made a tensor of numbers. */
  written(dataId: object): void {
    this.#ofJavaScript.add(dataId);
    const { values } = this.backend.tensorMap.get(dataId);
    if (ArrayBuffer.isView(values) && isLive(values as LiveValues)) this.placeOf({ dataId });
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
    const variable = this.#variables.get(dataId);
    if (variable !== undefined)
      return this.#feed({ name: `variable${variable.id}`, kind: 'variable', variable, type, shape });
    if (ArrayBuffer.isView(values) && isLive(values as LiveValues)) {
      const live = this.#lives.get(values as LiveValues);
      if (live === undefined) this.refuse('it takes numbers that change, which were made before it began');
      else return this.#feed({ name: `live${live}_${shape.join('x')}`, kind: 'live', live, type, shape });
    }
    if (this.#new.has(dataId) && !this.#ofJavaScript.has(dataId)) this.refuse('it takes a tensor that no op made');
    return this.#newConstant(dataId);
  }

  #feed(feed: Feed): string {
    if (!this.feeds.some(({ name }) => name === feed.name)) this.feeds.push(feed);
    return feed.name;
  }

  #newConstant(dataId: object): string {
    const { shape, dtype: type } = this.backend.tensorMap.get(dataId);
    const name = `value${this.constants.length}`;
    this.constants.push({ name, type, shape, values: this.#valuesOf(dataId), within: this.called.now });
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
      this.#places.set(outputs[0]!.dataId, this.#newConstant(outputs[0]!.dataId));
      return;
    }
    const node = `op${this.ops.length}`;
    const isOpen = this.#openOutputs(name, attributes, places, inputs);
    const kinds = outputs.map(({ dataId }, i) => {
      const { shape, dtype: type } = this.backend.tensorMap.get(dataId);
      return { type, shape: isOpen[i] === true ? null : shape };
    });
    const op = { node, name, attributes, inputs: places, inputTypes: types, outputs: kinds, within: this.called.now };
    this.ops.push(op);
    if (places.some((place) => this.#written.has(place)) && !isInPlace(op)) {
      this.refuse(`${name} reads a variable after it was stepped`);
    }
    if (isInPlace(op)) this.#write(writtenInputs(op));
    outputs.forEach((output, i) => {
      const place = i === 0 ? node : `${node}:${i}`;
      this.#places.set(output.dataId, place);
      if (isOpen[i] !== true) return;
      this.#open.add(place);
      if (output.size === 0) this.isTypical = false;
    });
  }

  #write(places: readonly string[]): void {
    for (const place of places) {
      if (!this.#isVariable(place)) this.refuse('it steps a variable that it gave another tensor before');
      this.#written.add(place);
    }
  }

  /** Whether an op gives the same in every step, and little of it. */
  #isConstant(name: string, places: readonly string[], outputs: readonly tf.Tensor[]): boolean {
    if (!PURE_OPS.has(name) || outputs.length !== 1 || outputs[0]!.size > MOST_FOLDED) return false;
    return places.every((place) => this.constants.some((constant) => constant.name === place));
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

  /** What was written down of a step that is over; `before`: what variables held when it began. */
  recordingOf(given: readonly tf.Tensor[], before: ReadonlyMap<tf.Variable, object>): Omit<Recording, 'stepped'> {
    const rebound = this.#rebound(before);
    const results = given.map((result) => this.placeOf(result));
    const { ops, feeds, constants, made, problem, isTypical } = this;
    const makesVariables = Object.values(tf.engine().registeredVariables).some((each) => !before.has(each));
    return { ops, feeds, constants, made, rebound, results, problem, isTypical, makesVariables };
  }

  /** Variables that hold others than when the step began. */
  #rebound(before: ReadonlyMap<tf.Variable, object>): Rebound[] {
    const found: Rebound[] = [];
    for (const [variable, dataId] of before) {
      if (variable.isDisposed || variable.dataId === dataId) continue;
      const place = this.placeOf(variable);
      // A copy that was made so that the variable can be stepped in place.
      if (place === `variable${variable.id}`) continue;
      if (this.#written.has(place)) {
        this.refuse(`variable ${variableText(variable)} is given a tensor of a variable that was stepped`);
      }
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
  /** Whether all variables and optimizers are as before afterwards. */
  readonly isUndone?: boolean;
}

/** Runs a step and records it. What the step throws passes through. */
export function record(
  node: NodeBackend,
  data: StepData,
  step: () => tf.Tensor[],
  { own = [], open = new Set(), isUndone = false }: Known = {},
): { results: tf.Tensor[]; recording: Recording } {
  const backend = node as ReadableBackend;
  const variables = [...new Set([...Object.values(tf.engine().registeredVariables), ...own])];
  separateMemory(backend, [...variables, ...data]);
  const recorder = new Recorder(backend, variables);
  recorder.addData(data, open);
  const before = new Map(variables.map((each) => [each, each.dataId as object]));
  const kept = isUndone ? variables.filter(isHere(backend)).map((each) => new Kept(each)) : [];
  const { executeSingleOutput, executeMultipleOutputs, getInputTensorIds, readSync, write } = backend;
  const { set } = backend.tensorMap;
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
  const counts = new Map<tf.Optimizer, unknown>();
  const optimizers = tf.Optimizer.prototype as unknown as { incrementIterations(this: tf.Optimizer): void };
  const { incrementIterations } = optimizers;
  optimizers.incrementIterations = asOwn(function (this: tf.Optimizer): void {
    stepped.push(this);
    if (!counts.has(this)) counts.set(this, (this as unknown as Counting).iterations_);
    incrementIterations.call(this);
  });
  const isOwn = Object.hasOwn(backend, 'readSync');
  backend.readSync = asOwn((dataId) => {
    recorder.reads(dataId);
    return readSync.call(backend, dataId);
  });
  backend.tensorMap.set = asOwn((dataId, record) => {
    recorder.comes(dataId);
    set.call(backend.tensorMap, dataId, record);
  });
  backend.write = asOwn((values, shape, dtype) => {
    const dataId = write.call(backend, values, shape, dtype);
    recorder.written(dataId);
    return dataId;
  });
  const putBack = (): void => {
    for (const each of kept) {
      each.putBack();
      each.release();
    }
    if (isUndone) counts.forEach((count, optimizer) => Object.assign(optimizer, { iterations_: count }));
  };
  try {
    const ask: AskRate = (_, call) => recorder.askRate(call);
    const results = whileRecording(recorder, () =>
      withOverrides([recorder.called.override], () => withRateCalls(ask, step)),
    );
    return { results, recording: { ...recorder.recordingOf(results, before), stepped } };
  } finally {
    Object.assign(backend, { executeSingleOutput, executeMultipleOutputs, getInputTensorIds, readSync, write });
    backend.tensorMap.set = set;
    optimizers.incrementIterations = incrementIterations;
    // A method of the prototype, where it was not wrapped before.
    if (!isOwn) delete (backend as Partial<ReadableBackend>).readSync;
    putBack();
  }
}

/** Whether a variable has its numbers on the backend. */
function isHere({ tensorMap }: ReadableBackend): (variable: tf.Variable) => boolean {
  return (variable) => !variable.isDisposed && tensorMap.has(variable.dataId);
}

interface Counting {
  readonly iterations_: number | undefined;
}
