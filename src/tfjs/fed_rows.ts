/**
 * Ids outside their table that a model was fed. tfjs cuts inputs into batches, which `fit` shuffles as well, so the row
 * of a batch says nothing to the caller: it is looked for in the inputs as they were given.
 */
import * as tf from '@tensorflow/tfjs';
import { addIdDetails, withIdDetails, type BatchRow, type OutOfRangeId } from '../ids/id_out_of_range.js';
import { densePlace } from '../ids/id_place.js';
import { isFeeding } from './feeding.js';

type Loop = (this: tf.LayersModel, ...args: unknown[]) => unknown;

/** The row of a batch that holds the id, where a model was fed the batch. */
export function fedPlace(
  layer: tf.layers.Layer,
  input: number,
  ids: unknown,
  known: OutOfRangeId,
): Partial<OutOfRangeId> {
  if (!isFeeding() || !(ids instanceof tf.Tensor) || ids.rank < 1) return {};
  const shape = ids.shape.slice(1);
  const width = tf.util.sizeFromShape(shape);
  const position = known.position % width;
  const first = known.position - position;
  const row = Array.from(ids.dataSync().subarray(first, first + width));
  return { place: `${known.place} of the batch`, batchRow: { layer, input, shape, ids: row, position } };
}

/** Runs the lookup of a layer with one table; an id outside the table is told with the layer. */
export function addLayerDetails<T>(layer: tf.layers.Layer, owner: string, ids: unknown, run: () => T): T {
  return addIdDetails(run, (known) => ({ owner, ...fedPlace(layer, 0, ids, known) }));
}

/** Which input of a model this tensor of its graph is; -1: none, something lies between. */
function inputNumber(model: tf.LayersModel, tensor: tf.SymbolicTensor): number {
  const direct = model.inputs.indexOf(tensor);
  if (direct >= 0) return direct;
  for (const nested of model.layers) {
    if (!(nested instanceof tf.LayersModel)) continue;
    const place = inputNumber(nested, tensor);
    const numbers = nested.inboundNodes.map(({ inputTensors }) => model.inputs.indexOf(inputTensors[place]!));
    const outer = place < 0 ? undefined : numbers.find((number) => number >= 0);
    if (outer !== undefined) return outer;
  }
  return -1;
}

/** The first row of an input that holds the same ids; -1: none. */
function rowOf(input: tf.Tensor, { ids }: BatchRow): number {
  const values = input.dataSync();
  return Array.from({ length: input.shape[0]! }, (_, row) => row).findIndex((row) => {
    return ids.every((id, i) => values[row * ids.length + i] === id);
  });
}

/** Where the inputs of a model hold the row; null: nowhere. */
function placeIn(model: tf.LayersModel, inputs: readonly tf.Tensor[], row: BatchRow): string | null {
  for (const { inputTensors } of (row.layer as tf.layers.Layer).inboundNodes) {
    const input = inputs[inputNumber(model, inputTensors[row.input]!)];
    const found = input === undefined ? -1 : rowOf(input, row);
    if (found >= 0) return densePlace([found + 1, ...row.shape], found * row.ids.length + row.position);
  }
  return null;
}

/** A loop of a model over batches; `argument`: which of its arguments holds the inputs. */
export function addFedRows(loop: Loop, argument: number): Loop {
  return function (this: tf.LayersModel, ...args: unknown[]): unknown {
    const inputs = [args[argument]].flat() as tf.Tensor[];
    const tell = (error: unknown): unknown =>
      withIdDetails(error, ({ place, batchRow }) => {
        return { place: (batchRow && placeIn(this, inputs, batchRow)) ?? place, batchRow: null };
      });
    try {
      const result = loop.apply(this, args);
      if (!(result instanceof Promise)) return result;
      return result.catch((error: unknown) => {
        throw tell(error);
      });
    } catch (error) {
      throw tell(error);
    }
  };
}
