/** Ops of TensorFlow as those of ONNX: what each of them is given. */
import type { Value } from '../../saved_model/graph/value.js';
import type { OnnxGraph, Parts } from './onnx_graph.js';

/** One op. */
export type Lowering = (graph: OnnxGraph, inputs: readonly [Value, Value, Value, Value], parts: Parts) => Value;
