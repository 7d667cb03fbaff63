/** All ops that have a counterpart in ONNX. */
import type { Lowering } from '../graph/lowering.js';
import { RefusedOp } from '../../saved_model/graph/refused_op.js';
import type { Lowerings } from '../graph/onnx_graph.js';
import { CONVOLUTION } from './convolution.js';
import { ELEMENTWISE } from './elementwise.js';
import { IMAGES } from './images.js';
import { REDUCTIONS } from './reductions.js';
import { SHAPES } from './shapes.js';

const ALL: Readonly<Record<string, Lowering>> = { ...ELEMENTWISE, ...SHAPES, ...REDUCTIONS, ...CONVOLUTION, ...IMAGES };

export const LOWERINGS: Lowerings = {
  one(graph, op, inputs, parts) {
    if (!Object.hasOwn(ALL, op)) throw new RefusedOp(`whose op ${op} ONNX lacks`);
    return ALL[op]!(graph, inputs as Parameters<Lowering>[1], parts);
  },
  many(graph, op, inputs, attr, parts) {
    if (op === 'Split') {
      const axis = { i: graph.numbersOf(inputs[0]!)[0]! };
      return graph.ops('Split', [inputs[1]!], parts, { axis, num_outputs: { i: attr['num_split']!.i! } });
    }
    if (op !== 'TopKV2') throw new RefusedOp(`whose op ${op} ONNX lacks`);
    const [values, places] = parts as [(typeof parts)[0], (typeof parts)[0]];
    const count = graph.int64s(graph.numbersOf(inputs[1]!));
    const best = graph.ops('TopK', [inputs[0]!, count], [values, { ...places, dtype: 'int64' }]);
    return [best[0]!, graph.narrow(best[1]!)];
  },
};
