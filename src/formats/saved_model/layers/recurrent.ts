/** Recurrent layers: a loop over the steps of a sequence. */
import type * as tf from '@tensorflow/tfjs';
import type { Operations } from '../graph/operations.js';
import type { Shape, Value } from '../graph/value.js';
import { GRU } from '../../../layers/recurrent/gru.js';
import { cellOf, type Cell } from './cells.js';
import type { Emitter, LayerCall } from './layer_call.js';

/** What recurrent layers have beside what tfjs tells of all layers. */
interface RecurrentLayer extends tf.layers.Layer {
  readonly cell: tf.layers.Layer;
  readonly returnSequences: boolean;
  readonly returnState: boolean;
  readonly goBackwards: boolean;
}

/** Time first: [steps, batch, ...]. */
function timeFirst(o: Operations, x: Value): Value {
  return o.transpose(x, [1, 0, ...x.shape.map((_, axis) => axis).slice(2)]);
}

/** The mask as numbers that broadcast with what a step gives: [steps, batch, 1]. */
function stepMask({ o }: LayerCall, mask: Value, rank: number): Value {
  let x = o.cast(mask, 'float32');
  while (x.shape.length < rank) x = o.expandDims(x, -1);
  return timeFirst(o, x);
}

function mixed(o: Operations, mask: Value, fresh: Value, before: Value): Value {
  return o.add(o.mul(fresh, mask), o.mul(before, o.sub(1, mask)));
}

export interface Recurrence {
  readonly cell: Cell;
  readonly input: Value;
  readonly initial: readonly Value[] | null;
  readonly mask: Value | null;
  readonly isBackwards: boolean;
  readonly wantsAll: boolean;
}

function initialStates({ o }: LayerCall, { cell, input }: Recurrence): Value[] {
  const step = [input.shape[0]!, ...input.shape.slice(2)];
  const [batch] = o.sizesOf(input, 0, 1) as [Value | number];
  return cell.stateShapes(step).map((shape) => o.fill([batch, ...shape], 0, [input.shape[0]!, ...shape]));
}

/** The last output, all of them [batch, steps, ...] where they are wanted, and the last states. */
export function recur(call: LayerCall, given: Recurrence): { last: Value; all: Value | null; states: Value[] } {
  const { o } = call;
  const { cell, mask, wantsAll } = given;
  const input = o.cast(given.input, 'float32');
  const turned = (x: Value): Value => (given.isBackwards ? o.reverse(x, [0]) : x);
  const steps = o.sizeAt(input, 1);
  const states = given.initial?.map((state) => o.cast(state, 'float32')) ?? initialStates(call, given);
  const batch = input.shape[0]!;
  // Shapes must stay as they are from step to step.
  const step = [batch, ...input.shape.slice(2)];
  const stateShapes = cell.stateShapes(step).map((shape): Shape => [batch, ...shape]);
  const output = stateShapes[0]!;
  const sequence = turned(timeFirst(o, input));
  const masks = mask === null ? null : turned(stepMask(call, mask, input.shape.length));
  const zeros = o.fill(o.sizesOf(states[0]!), 0, output);
  const started = states.map((state, i): Value => ({ ...state, shape: stateShapes[i]! }));
  const scanned = call.context.form.scan(o, {
    sequences: [sequence, ...(masks === null ? [] : [masks])],
    states: [{ ...zeros, shape: output }, ...started],
    outside: cell.weights,
    steps,
    length: input.shape[1]!,
    keepsAll: wantsAll,
    step(inner, [last, ...before], [x, present], weights) {
      const fresh = cell.step(inner, weights, x!, before);
      const kept = (value: Value, old: Value): Value =>
        present === undefined ? value : mixed(inner, present, value, old);
      // Before the first step that counts there is none to repeat, whatever states the layer begins with.
      return [kept(fresh.output, last!), ...fresh.states.map((state, i) => kept(state, before[i]!))];
    },
  });
  const [last, ...lastStates] = scanned.states as [Value, ...Value[]];
  return { last, all: scanned.all === null ? null : timeFirst(o, scanned.all), states: lastStates };
}

/** A layer's own recurrence, on these inputs: a sequence, then initial states. */
export function recurrentLayer(call: LayerCall, layer: tf.layers.Layer, inputs: readonly Value[]): Value[] {
  const { cell, returnSequences, returnState, goBackwards } = layer as RecurrentLayer;
  if (layer.stateful) throw call.refuse('which is stateful');
  const { last, all, states } = recur(call, {
    cell: cellOf({ call, layer: cell }),
    input: inputs[0]!,
    initial: inputs.length > 1 ? inputs.slice(1) : null,
    mask: call.mask,
    isBackwards: goBackwards,
    wantsAll: returnSequences,
  });
  const output = all ?? last;
  return returnState ? [output, ...states] : [output];
}

const recurrent: Emitter = (call) => recurrentLayer(call, call.layer, call.inputs);

export const RECURRENT_LAYERS: Readonly<Record<string, Emitter>> = {
  RNN: recurrent,
  SimpleRNN: recurrent,
  GRU: recurrent,
  [GRU.className]: recurrent,
  LSTM: recurrent,
  ConvLSTM2D: recurrent,
};
