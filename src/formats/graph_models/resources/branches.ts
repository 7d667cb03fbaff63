/** What branches of graphs are lowered to: one output of many is alive, and values that may be absent. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../../base/errors.js';
import { readTensor } from '../../../ids/values.js';
import { atEndOfRun } from '../../../tfjs/graph_models/graph_run.js';
import { graphOp, type GraphOp } from '../graph_op.js';
import { forget, handleFor, objectOfKind } from './handles.js';

/** Values of a branch, or none. */
class Optional {
  constructor(readonly values: readonly tf.Tensor[] | null) {}
}

function optional(values: readonly tf.Tensor[] | null, node: tf.GraphNode): tf.Tensor {
  const made = new Optional(values?.map((each) => tf.keep(each.clone())) ?? null);
  atEndOfRun(node, () => {
    tf.dispose([...(made.values ?? [])]);
    forget(made);
  });
  return handleFor(made);
}

function valuesOf([handle]: tf.Tensor[]): tf.Tensor[] {
  const { values } = objectOfKind(handle!, Optional, 'optional');
  if (values === null) throw new ValueError('optional', 'one that has values', described('one without'));
  return values.map((each) => each.clone());
}

/** An index out of range means the last output. */
function switched([data, index]: tf.Tensor[], node: tf.GraphNode): tf.Tensor[] {
  const count = Number(node.attrs['num_outs']);
  const given = readTensor(index!, 'output_index')[0]!;
  const alive = given >= 0 && given < count ? given : count - 1;
  // tfjs-converter takes what is not there for an output that does not run.
  const outputs: (tf.Tensor | undefined)[] = Array.from({ length: count }, (_, at) =>
    at === alive ? data!.clone() : undefined,
  );
  return outputs as tf.Tensor[];
}

export const BRANCH_OPS: readonly GraphOp[] = [
  graphOp('_SwitchN(data: T, output_index: int32) -> outputs: T * num_outs', switched),
  graphOp('OptionalNone() -> optional: variant', (_, node) => optional(null, node)),
  graphOp('OptionalFromValue(components: Toutput_types * Toutput_types) -> optional: variant', (values, node) =>
    optional(values, node),
  ),
  graphOp('OptionalHasValue(optional: variant) -> has_value: bool', ([handle]) =>
    tf.scalar(objectOfKind(handle!, Optional, 'optional').values !== null, 'bool'),
  ),
  graphOp('OptionalGetValue(optional: variant) -> components: output_types * output_types', valuesOf),
];
