/** Layers that can begin with a batch before its step: `fit` tells them of the next one. */
import type * as tf from '@tensorflow/tfjs';
import { perProcess } from '../../base/per_process.js';

/** The method of a layer that begins with inputs whose outputs it will be asked for. */
export const LOOK_AHEAD = Symbol.for('tfjs-embeddings.lookAhead');

interface LooksAhead extends tf.layers.Layer {
  /** Undefined where there is nothing to begin with. */
  readonly [LOOK_AHEAD]?: ((inputs: readonly tf.Tensor[]) => void) | undefined;
  /** The table of one whose rows may lie in a file: those begin to be read wherever tables lie. */
  readonly table?: { readonly listsWeight?: boolean };
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

/** The layers of a model that look ahead and whose inputs are all inputs of the model, each with the places of those. */
function layersAhead(model: tf.LayersModel): (readonly [layer: LooksAhead, inputs: readonly number[]])[] {
  return model.layers.flatMap((layer) => {
    const { inboundNodes } = layer as unknown as Called;
    if ((layer as LooksAhead)[LOOK_AHEAD] === undefined || inboundNodes.length !== 1) return [];
    const inputs = inboundNodes[0]!.inputTensors.map((tensor) => model.inputs.indexOf(tensor));
    return inputs.includes(-1) ? [] : [[layer as LooksAhead, inputs] as const];
  });
}

/** Whether `fit` of this model should tell of the next batch: one layer at a time, but for those that read files. */
export function looksAhead(model: tf.LayersModel): boolean {
  const layers = layersAhead(model);
  return layers.some(([{ table }]) => table?.listsWeight === false) || (wanted().isWanted() && layers.length === 1);
}

/** Tells the layers of a model of the batch that comes next: its inputs in their order. */
export function lookAhead(model: tf.LayersModel, batch: readonly tf.Tensor[]): void {
  for (const [layer, inputs] of layersAhead(model)) layer[LOOK_AHEAD]!(inputs.map((input) => batch[input]!));
}
