/** One step of recurrent layers: an input and states give an output and new states. */
import type * as tf from '@tensorflow/tfjs';
import { GRUCell } from '../../../layers/recurrent/gru.js';
import type { Operations } from '../graph/operations.js';
import { sizeOf, type Shape, type Value } from '../graph/value.js';
import { activate } from './activations.js';
import { convolve } from './convolution.js';
import type { LayerCall } from './layer_call.js';
import { channelsToFirst, channelsToLast } from './shapes.js';

/** What a step gives: the output, then the states. */
export interface StepResult {
  readonly output: Value;
  readonly states: readonly Value[];
}

/** A cell whose weights are values already: those of the graph in which it steps. */
export interface Cell {
  /** Values from outside that a step needs. */
  readonly weights: readonly Value[];
  /** Shapes of the states behind the batch, for an input of a step of this shape. */
  stateShapes(step: Shape): readonly Shape[];
  step(o: Operations, weights: readonly Value[], x: Value, states: readonly Value[]): StepResult;
}

type Config = Readonly<Record<string, unknown>>;

/** What cells have beside what tfjs tells of all layers. */
interface CellLayer extends tf.layers.Layer {
  readonly stateSize: number | readonly number[];
  readonly cells?: readonly CellLayer[];
}

export interface CellOwner {
  readonly call: LayerCall;
  readonly layer: tf.layers.Layer;
}

function weightsOf({ call, layer }: CellOwner): { all: Value[]; hasBias: boolean } {
  const bias = call.optional('bias', layer);
  const all = [call.weight('kernel', layer), call.weight('recurrent_kernel', layer)];
  return { all: bias === null ? all : [...all, bias], hasBias: bias !== null };
}

function activationOf({ call }: CellOwner, config: Config, field: string): (o: Operations, x: Value) => Value {
  return (o, x) => {
    const result = activate(o, config[field], x);
    if (result === null) throw call.refuse(`with the activation ${String(config[field])}, which is not one of tfjs`);
    return result;
  };
}

function dotWithBias(o: Operations, x: Value, kernel: Value, bias: Value | undefined): Value {
  const product = o.matMul(x, kernel);
  return bias === undefined ? product : o.add(product, bias);
}

function units(config: Config): Shape[] {
  return [[config['units'] as number]];
}

function simpleCell(owner: CellOwner): Cell {
  const config: Config = owner.layer.getConfig();
  const act = activationOf(owner, config, 'activation');
  return {
    weights: weightsOf(owner).all,
    stateShapes: () => units(config),
    step(o, [kernel, recurrent, bias], x, [h]) {
      const output = act(o, o.add(dotWithBias(o, x, kernel!, bias), o.matMul(h!, recurrent!)));
      return { output, states: [output] };
    },
  };
}

/** Columns of gates side by side. */
function columns(o: Operations, matrix: Value, from: number, to: number): Value {
  return o.slice(matrix, [0, from], [null, to]);
}

/** The state that was, as much of it as the update gate keeps, and the candidate for the rest. */
function gruResult(o: Operations, h: Value, update: Value, candidate: Value): StepResult {
  const output = o.add(o.mul(update, h), o.mul(o.sub(1, update), candidate));
  return { output, states: [output] };
}

function gruCell(owner: CellOwner): Cell {
  const config: Config = owner.layer.getConfig();
  const n = config['units'] as number;
  const act = activationOf(owner, config, 'activation');
  const gate = activationOf(owner, config, 'recurrentActivation');
  return {
    weights: weightsOf(owner).all,
    stateShapes: () => units(config),
    step(o, [kernel, recurrent, bias], x, [h]) {
      const [xz, xr, xh] = o.split(dotWithBias(o, x, kernel!, bias), 3, -1) as [Value, Value, Value];
      const inner = o.matMul(h!, columns(o, recurrent!, 0, 2 * n));
      const [hz, hr] = o.split(inner, 2, -1) as [Value, Value];
      const z = gate(o, o.add(xz, hz));
      const r = gate(o, o.add(xr, hr));
      const candidate = act(o, o.add(xh, o.matMul(o.mul(r, h!), columns(o, recurrent!, 2 * n, 3 * n))));
      return gruResult(o, h!, z, candidate);
    },
  };
}

/** The GRU of Keras, with the reset after the product and a bias on each side. */
function resetAfterGruCell(owner: CellOwner): Cell {
  const config: Config = owner.layer.getConfig();
  const act = activationOf(owner, config, 'activation');
  const gate = activationOf(owner, config, 'recurrentActivation');
  return {
    weights: weightsOf(owner).all,
    stateShapes: () => units(config),
    step(o, [kernel, recurrent, bias], x, [h]) {
      const biasOf = (side: number): Value | undefined =>
        bias === undefined ? undefined : o.slice(bias, [side, 0], [side + 1, null]);
      const [xz, xr, xh] = o.split(dotWithBias(o, x, kernel!, biasOf(0)), 3, -1) as [Value, Value, Value];
      const [hz, hr, hh] = o.split(dotWithBias(o, h!, recurrent!, biasOf(1)), 3, -1) as [Value, Value, Value];
      const z = gate(o, o.add(xz, hz));
      const candidate = act(o, o.add(xh, o.mul(gate(o, o.add(xr, hr)), hh)));
      return gruResult(o, h!, z, candidate);
    },
  };
}

/** Gates in the order input, forget, candidate, output. */
function lstmStep(
  o: Operations,
  gates: readonly Value[],
  c: Value,
  act: (o: Operations, x: Value) => Value,
  gate: (o: Operations, x: Value) => Value,
): StepResult {
  const [i, f, candidate, out] = gates as [Value, Value, Value, Value];
  const carry = o.add(o.mul(gate(o, f), c), o.mul(gate(o, i), act(o, candidate)));
  const output = o.mul(gate(o, out), act(o, carry));
  return { output, states: [output, carry] };
}

function lstmCell(owner: CellOwner): Cell {
  const config: Config = owner.layer.getConfig();
  const act = activationOf(owner, config, 'activation');
  const gate = activationOf(owner, config, 'recurrentActivation');
  return {
    weights: weightsOf(owner).all,
    stateShapes: () => [...units(config), ...units(config)],
    step(o, [kernel, recurrent, bias], x, [h, c]) {
      const sum = o.add(o.matMul(x, kernel!), o.matMul(h!, recurrent!));
      const all = bias === undefined ? sum : o.add(sum, bias);
      return lstmStep(o, o.split(all, 4, -1), c!, act, gate);
    },
  };
}

/** The same with convolutions in place of products. */
function convLstmCell(owner: CellOwner): Cell {
  const config: Config = owner.layer.getConfig();
  const act = activationOf(owner, config, 'activation');
  const gate = activationOf(owner, config, 'recurrentActivation');
  const isFirst = config['dataFormat'] === 'channelsFirst';
  const args = {
    strides: config['strides'] as number[],
    dilations: config['dilationRate'] as number[],
    padding: config['padding'],
  };
  const inner = { strides: [1, 1], dilations: [1, 1], padding: 'same' };
  const last = (o: Operations, x: Value): Value => (isFirst ? channelsToLast(o, x) : x);
  const first = (o: Operations, x: Value): Value => (isFirst ? channelsToFirst(o, x) : x);
  return {
    weights: weightsOf(owner).all,
    stateShapes(step) {
      const layer = owner.call.layer as unknown as { computeSingleOutputShape(shape: Shape): Shape };
      const shape = layer.computeSingleOutputShape([step[0]!, null, ...step.slice(1)]).slice(2);
      if (sizeOf(shape) === null) throw owner.call.refuse('whose images have no known size');
      return [shape, shape];
    },
    step(o, [kernel, recurrent, bias], x, [h, c]) {
      const call = { o } as LayerCall;
      const fromInput = convolve(call, last(o, x), kernel!, args);
      const sum = o.add(fromInput, convolve(call, last(o, h!), recurrent!, inner));
      const gates = o.split(bias === undefined ? sum : o.add(sum, bias), 4, -1);
      const { output, states } = lstmStep(o, gates, last(o, c!), act, gate);
      return { output: first(o, output), states: [first(o, output), first(o, states[1]!)] };
    },
  };
}

/** Cells one above the other. tfjs keeps the states of the last cell first. */
function stackedCell(owner: CellOwner): Cell {
  const cells = (owner.layer as CellLayer).cells!.map((layer) => cellOf({ call: owner.call, layer }));
  return {
    weights: cells.flatMap(({ weights }) => weights),
    stateShapes(step) {
      return [...cells].reverse().flatMap((cell) => cell.stateShapes(step));
    },
    step(o, weights, x, states) {
      let output = x;
      let [atWeight, atState] = [0, states.length];
      const made: (readonly Value[])[] = [];
      for (const cell of cells) {
        const count = cell.stateShapes(x.shape).length;
        const own = states.slice(atState - count, atState);
        const result = cell.step(o, weights.slice(atWeight, atWeight + cell.weights.length), output, own);
        output = result.output;
        made.push(result.states);
        atWeight += cell.weights.length;
        atState -= count;
      }
      return { output, states: made.reverse().flat() };
    },
  };
}

const CELLS: Readonly<Record<string, (owner: CellOwner) => Cell>> = {
  SimpleRNNCell: simpleCell,
  GRUCell: gruCell,
  [GRUCell.className]: resetAfterGruCell,
  LSTMCell: lstmCell,
  ConvLSTM2DCell: convLstmCell,
  StackedRNNCells: stackedCell,
};

/** The cell of a recurrent layer. Throws ValueError for classes of the user. */
export function cellOf(owner: CellOwner): Cell {
  const name = owner.layer.getClassName();
  const make = Object.hasOwn(CELLS, name) ? CELLS[name]! : null;
  if (make === null) throw owner.call.refuse(`whose cell (${name}) is of another class than those of tfjs`);
  return make(owner);
}
