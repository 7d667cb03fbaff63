/** A recorded step as one op, and what it takes and gives each time. */
import * as tf from '@tensorflow/tfjs';
import { asNodeBackend, type OpAttribute } from '../backends/tensorflow/node_backend.js';
import { Ownership } from '../backends/tensorflow/ownership.js';
import type { StepData } from '../tfjs/training/step_runner.js';
import type { LiveValues } from '../backends/recordings.js';
import { graphDefOf, type AttributeKinds } from './graph_def.js';
import { kindsOf } from './places.js';
import { isInPlace, writtenInputs, type Constant, type Feed, type RecordedOp, type Recording } from './recording.js';

/** The part of the native addon that makes graphs. */
export interface GraphAddon {
  buildGraph(definition: Uint8Array, feeds: string, fetches: string, targets: string): number;
  unsizedPlace(definition: Uint8Array, places: string): number;
  releaseGraph(number: number): void;
}

/** Numbers that are made anew for each run, as `made` of the recording lists them. */
export type LiveNumbers = readonly LiveValues[];

const FLOAT = 1;
const BOOL = 10;
const STEP = 'EmbeddingStep';

export const lines = (names: readonly string[]): string => names.map((name) => `${name}\n`).join('');

/** What TensorFlow keeps of a graph, and nothing that a step reaches: whoever frees it keeps no step alive. */
export interface HeldGraph {
  release(): void;
}

function held(addon: GraphAddon, number: number): HeldGraph {
  return { release: () => addon.releaseGraph(number) };
}

export class StepGraph {
  readonly #number: number;
  readonly held: HeldGraph;
  readonly #feeds: readonly Feed[];
  readonly #attributes: readonly OpAttribute[];
  readonly #written: readonly tf.Variable[];
  /** Of results and of new tensors of variables. */
  readonly #types: readonly number[];
  /** The variables that the step reads or writes. */
  readonly variables: readonly tf.Variable[];
  /** How many numbers each has, and what tfjs finds by its name. */
  readonly #sizes: readonly number[];
  readonly #registered: readonly (tf.Variable | undefined)[];

  /** Throws TensorFlow's words where it refuses the graph. */
  constructor(
    addon: GraphAddon,
    readonly recording: Recording,
  ) {
    const { binding } = asNodeBackend(tf.backend());
    const given = withResult(recording);
    const { feeds, rebound, results, ops } = given;
    const floats = feeds.filter(({ type }) => type === FLOAT);
    const ints = feeds.filter(({ type }) => type !== FLOAT);
    this.#feeds = [...floats, ...ints];
    const kinds = kindsOf(given);
    this.#types = [...results, ...rebound.map(({ place }) => place)].map((place) => kinds.get(place)!.type);
    const asFloats = withFloatResults(given, this.#types);
    const fetches = [...asFloats.results, ...asFloats.rebound.map(({ place }) => place)];
    const { definition, targets } = graphDefOf(asFloats, binding as unknown as AttributeKinds);
    const names = this.#feeds.map(({ name }) => name);
    this.#number = addon.buildGraph(definition, lines(names), lines(fetches), lines(targets));
    this.held = held(addon, this.#number);
    const count = (name: string, value: number): OpAttribute => ({ name, type: binding.TF_ATTR_INT, value });
    this.#attributes = [count('N', floats.length), count('M', ints.length), count('K', fetches.length)];
    const written = new Set(ops.filter(isInPlace).flatMap(writtenInputs));
    this.#written = feeds.flatMap((feed) =>
      feed.kind === 'variable' && written.has(feed.name) ? [feed.variable] : [],
    );
    const ofVariables = this.#feeds.flatMap((feed) => (feed.kind === 'variable' ? [feed] : []));
    this.variables = ofVariables.map(({ variable }) => variable);
    this.#sizes = ofVariables.map(({ shape }) => tf.util.sizeFromShape([...shape!]));
    this.#registered = this.variables.map(({ name }) => tf.engine().registeredVariables[name]);
  }

  /** Whether all variables of the step are there as they were, and tfjs, which steps them by their names, finds the same ones. */
  get isWhole(): boolean {
    const { registeredVariables } = tf.engine();
    for (let i = 0; i < this.variables.length; i++) {
      const { name, size, isDisposed } = this.variables[i]!;
      if (isDisposed || size !== this.#sizes[i] || registeredVariables[name] !== this.#registered[i]) return false;
    }
    return true;
  }

  /** Whether a batch lies in the memory of a variable, which the step may write before it has read the batch. */
  takesVariable(data: StepData): boolean {
    for (const tensor of data) {
      if (tensor === null || tensor === undefined) continue;
      for (const variable of this.variables) if (variable.dataId === tensor.dataId) return true;
    }
    return false;
  }

  /** The numbers of the next run that change from step to step, made in the order in which the step makes them. */
  makeLive(): LiveNumbers {
    const live: LiveValues[] = [];
    for (const each of this.recording.made) live.push(each.make());
    return live;
  }

  /** Runs the step; what it gives belongs to the scope of the caller. Nothing is written where it throws. */
  run(data: StepData, live = this.makeLive()): tf.Tensor[] {
    const backend = asNodeBackend(tf.backend());
    const ownership = Ownership.of(backend);
    for (const variable of this.#written) ownership.makeWritable(variable);
    const number = Int32Array.of(this.#number);
    const inputs: tf.TensorInfo[] = [{ dataId: backend.write(number, [], 'int32'), shape: [], dtype: 'int32' }];
    const temporary = [inputs[0]!.dataId];
    try {
      for (const feed of this.#feeds) {
        if (feed.kind === 'data') inputs.push(data[feed.place]!);
        else if (feed.kind === 'variable') inputs.push(feed.variable);
        else {
          const values = live[feed.live]!;
          const [shape, dtype] = [feed.shape as number[], values instanceof Int32Array ? 'int32' : 'float32'] as const;
          const dataId = backend.write(values, shape, dtype);
          temporary.push(dataId);
          inputs.push({ dataId, shape, dtype });
        }
      }
      const outputs = backend.executeMultipleOutputs(STEP, this.#attributes, inputs, this.#types.length);
      return this.#take(outputs);
    } finally {
      for (const dataId of temporary) backend.disposeData(dataId, true);
    }
  }

  #take(outputs: tf.Tensor[]): tf.Tensor[] {
    const { results, rebound } = this.recording;
    for (let i = 0; i < outputs.length; i++)
      if (this.#types[i] !== FLOAT) outputs[i] = asType(outputs[i]!, this.#types[i]!);
    for (let i = 0; i < rebound.length; i++) {
      const output = outputs[results.length + i]!;
      rebound[i]!.variable.assign(output as tf.Tensor<never>);
      output.dispose();
    }
    if (results.length === 0 && rebound.length === 0) tf.dispose(outputs);
    return outputs.slice(0, results.length);
  }

  /** Whether something may be written already where it threw this: a step in place failed, or what comes after all of them. */
  failedWriting(error: unknown): boolean {
    if (!(error instanceof Error)) return false;
    const isLate = this.#written.length > 0 && /shares memory with a feed/.test(error.message);
    return isLate || /\bwrite_op\d+\b/.test(error.message);
  }

  release(): void {
    this.held.release();
  }
}

/** An op of ours gives something: a step that only writes in place gives a number that nobody takes. */
function withResult(recording: Recording): Recording {
  const { results, rebound, constants } = recording;
  if (results.length > 0 || rebound.length > 0) return recording;
  const nothing: Constant = { name: 'nothing', type: FLOAT, shape: [], values: Float32Array.of(0) };
  return { ...recording, constants: [...constants, nothing], results: [nothing.name] };
}

/** The op that turns one type into another: whole numbers keep their bits. */
function conversion(from: number, to: number): { readonly name: string; readonly attributes: OpAttribute[] } {
  const { TF_ATTR_TYPE: type } = asNodeBackend(tf.backend()).binding;
  const isCast = from === BOOL || to === BOOL;
  const [name, first, second] = isCast ? ['Cast', 'SrcT', 'DstT'] : ['Bitcast', 'T', 'type'];
  const attributes = [
    { name: first!, type, value: from },
    { name: second!, type, value: to },
  ];
  return { name: name!, attributes };
}

/** The step, all results of which are floats: an op of ours gives nothing else. */
function withFloatResults(recording: Recording, types: readonly number[]): Recording {
  const added: RecordedOp[] = [];
  const asFloat = (place: string, at: number): string => {
    const type = types[at]!;
    if (type === FLOAT) return place;
    const node = `float${at}`;
    const outputs = [{ type: FLOAT, shape: null }];
    added.push({ ...conversion(type, FLOAT), node, inputs: [place], inputTypes: [type], outputs });
    return node;
  };
  const results = recording.results.map(asFloat);
  const rebound = recording.rebound.map((each, i) => ({ ...each, place: asFloat(each.place, results.length + i) }));
  return { ...recording, ops: [...recording.ops, ...added], results, rebound };
}

/** A result as the type that the step gave, which is not that of floats. */
function asType(output: tf.Tensor, type: number): tf.Tensor {
  const { name, attributes } = conversion(FLOAT, type);
  const given = asNodeBackend(tf.backend()).executeSingleOutput(name, attributes, [output]);
  output.dispose();
  return given;
}
