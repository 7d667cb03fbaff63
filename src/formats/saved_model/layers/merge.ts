/** Layers that make one value of several. */
import { Concatenate } from '../../../layers/merge/concatenate.js';
import type { Operations } from '../graph/operations.js';
import type { Value } from '../graph/value.js';
import type { Emitter, LayerCall } from './layer_call.js';

/** Inputs of one rank: axes are added behind the batch. */
function alignRanks({ o, inputs }: LayerCall): Value[] {
  const rank = Math.max(...inputs.map(({ shape }) => shape.length));
  return inputs.map((input) => {
    let x = input;
    while (x.shape.length < rank) x = o.expandDims(x, 1);
    return x;
  });
}

const elementwise =
  (join: (o: Operations, a: Value, b: Value) => Value): Emitter =>
  (call) =>
    alignRanks(call).reduce((a, b) => join(call.o, a, b));

const average: Emitter = (call) => {
  const { o, inputs } = call;
  return o.mul(
    alignRanks(call).reduce((a, b) => o.add(a, b)),
    1 / inputs.length,
  );
};

const concatenate: Emitter = ({ o, inputs, config }) => o.concat(inputs, config['axis'] as number);

/** As the losses of tfjs have it. */
const EPSILON = 1e-7;

function normalized(o: Operations, x: Value, axis: number): Value {
  const squares = o.reduce('Sum', o.unary('Square', x), [axis], true);
  return o.div(x, o.unary('Sqrt', o.maximum(squares, EPSILON)));
}

/** Rank 2 times rank 2, 3 times 3, or a mixture; the axes that are summed over are given. */
const dot: Emitter = ({ o, inputs, config }) => {
  const given = config['axes'] as number | readonly [number, number];
  const axes = inputs.map(({ shape }, i) => {
    const axis = typeof given === 'number' ? given : given[i]!;
    return axis < 0 ? axis + shape.length : axis;
  }) as [number, number];
  const [a, b] = inputs.map((x, i) => (config['normalize'] === true ? normalized(o, x, axes[i]!) : x)) as [
    Value,
    Value,
  ];
  if (a.shape.length === 2 && b.shape.length === 2) return o.reduce('Sum', o.mul(a, b), [1], true);
  // As matrices [batch, n, d] and [batch, d, m], then without the axes that were added.
  const left = a.shape.length === 2 ? o.expandDims(a, 1) : a;
  const right = b.shape.length === 2 ? o.expandDims(b, 2) : b;
  const adjLeft = a.shape.length === 3 && axes[0] === 1;
  const adjRight = b.shape.length === 3 && axes[1] === 2;
  const product = o.batchMatMul(left, right, adjLeft, adjRight);
  if (a.shape.length === 2) return o.squeeze(product, [1]);
  return b.shape.length === 2 ? o.squeeze(product, [2]) : product;
};

export const MERGE_LAYERS: Readonly<Record<string, Emitter>> = {
  Add: elementwise((o, a, b) => o.add(a, b)),
  Multiply: elementwise((o, a, b) => o.mul(a, b)),
  Maximum: elementwise((o, a, b) => o.maximum(a, b)),
  Minimum: elementwise((o, a, b) => o.minimum(a, b)),
  Average: average,
  Concatenate: concatenate,
  [Concatenate.className]: concatenate,
  Dot: dot,
};
