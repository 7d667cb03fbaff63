/** Layers that can begin with a batch before its step: `fit` tells them of the next one. */
import type * as tf from '@tensorflow/tfjs';
import { perProcess } from '../../base/per_process.js';

/** The method of a layer that begins with inputs whose outputs it will be asked for. */
export const LOOK_AHEAD = Symbol.for('tfjs-embeddings.lookAhead');

interface LooksAhead extends tf.layers.Layer {
  [LOOK_AHEAD](inputs: readonly tf.Tensor[]): void;
}

/** What tfjs keeps of the calls of a layer. */
interface Called {
  readonly inboundNodes: readonly { readonly inputTensors: readonly tf.SymbolicTensor[] }[];
}

const wanted = (): { isWanted: () => boolean } => perProcess('looking ahead', () => ({ isWanted: () => false }));

/** Says when looking ahead is of use. */
export function lookAheadWhere(isWanted: () => boolean): void {
  wanted().isWanted = isWanted;
}

/** A layer, and which inputs of the model are its own. */
interface Ahead {
  readonly layer: LooksAhead;
  readonly inputs: readonly number[];
}

/** The layers of a model that look ahead, whose inputs are all inputs of the model. */
function layersAhead(model: tf.LayersModel): Ahead[] {
  return model.layers.flatMap((layer): Ahead[] => {
    if (!(LOOK_AHEAD in layer)) return [];
    const { inboundNodes } = layer as unknown as Called;
    if (inboundNodes.length !== 1) return [];
    const inputs = inboundNodes[0]!.inputTensors.map((tensor) => model.inputs.indexOf(tensor));
    return inputs.includes(-1) ? [] : [{ layer: layer as LooksAhead, inputs }];
  });
}

/** Whether `fit` of this model should tell of the next batch: one layer at a time looks ahead. */
export function looksAhead(model: tf.LayersModel): boolean {
  return wanted().isWanted() && layersAhead(model).length === 1;
}

/** Tells the layers of a model of the batch that comes next: its inputs in their order. */
export function lookAhead(model: tf.LayersModel, batch: readonly tf.Tensor[]): void {
  for (const { layer, inputs } of layersAhead(model)) layer[LOOK_AHEAD](inputs.map((input) => batch[input]!));
}
