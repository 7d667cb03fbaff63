/** What a graph is fed, as the inputs of a model. */
import { keyInputKind } from '../../tfjs/models/key_inputs.js';
import type { Operations } from './graph/operations.js';
import type { Value } from './graph/value.js';
import { paddedRows } from './layers/ragged.js';
import { layerOf } from './model_graph.js';
import type { FedInput } from './ragged_inputs.js';

/** From the arguments of a function the inputs of the model, by the ids of their tensors. */
export function feed(
  operations: Operations,
  fed: readonly FedInput[],
  given: ReadonlyMap<string, Value>,
): Map<number, Value> {
  const values = new Map<number, Value>();
  for (const each of fed) {
    const { symbolic } = each.input;
    if (each.kind === 'dense') {
      values.set(symbolic.id, given.get(each.spec.name)!);
      continue;
    }
    const flat = given.get(each.values.name)!;
    const rowSplits = operations.cast(given.get(each.rowSplits.name)!, 'int32');
    if (keyInputKind(layerOf(symbolic)) !== null && each.splitsInput === null) {
      values.set(symbolic.id, { ...flat, rowSplits, shape: [null, each.length] });
    } else if (each.splitsInput === null) {
      const padded = paddedRows(operations, flat, rowSplits, each.padding, each.length);
      values.set(symbolic.id, { ...padded, shape: symbolic.shape });
    } else {
      values.set(symbolic.id, flat);
      values.set(each.splitsInput.symbolic.id, rowSplits);
    }
  }
  return values;
}
