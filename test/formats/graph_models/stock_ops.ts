/** Ops of tfjs-converter that real TensorFlow ran: see test/goldens/gen_stock_ops.py. */
import * as tf from '@tensorflow/tfjs';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../helpers/project.js';
import { tensorOf } from './one_op_graph.js';
import type { GoldenTensor } from './golden_ops.js';
import { loadGraph, placeholder } from './small_graph.js';

/** Numbers that JSON lacks are texts. */
interface StockTensor {
  readonly dtype: GoldenTensor['dtype'];
  readonly shape: number[];
  readonly values: (number | string)[];
}

export interface StockCase {
  readonly op: string;
  readonly attributes: Readonly<Record<string, object>>;
  readonly inputs: readonly StockTensor[];
  readonly outputs: readonly StockTensor[];
}

export const GOLDENS = join(ROOT, 'test', 'goldens', 'stock_ops.json');

export function stockCases(path = GOLDENS): readonly StockCase[] {
  return (JSON.parse(readFileSync(path, 'utf8')) as { cases: StockCase[] }).cases;
}

const TYPES = { int32: 'DT_INT32', float32: 'DT_FLOAT', bool: 'DT_BOOL', string: 'DT_STRING' } as const;

function plain({ dtype, shape, values }: StockTensor): GoldenTensor {
  return { dtype, shape, values: dtype === 'string' ? values : values.map(Number) };
}

/** What a case is called: its op, the tensors, and those attributes that are no types. */
export function titleOf({ op, attributes, inputs }: StockCase): string {
  const tensors = inputs.map(({ dtype, shape }) => `${dtype} [${shape.join(', ')}]`);
  const told = Object.entries(attributes).flatMap(([name, value]) =>
    'type' in value || name === 'N' ? [] : [`${name} ${JSON.stringify(Object.values(value)[0])}`],
  );
  return `${op} of ${tensors.join(', ')}${told.length === 0 ? '' : `; ${told.join(', ')}`}`;
}

/** A graph of the op alone. */
export async function loadCase({ op, attributes, inputs }: StockCase): Promise<tf.GraphModel> {
  const inNodes = inputs.map(({ dtype }, i) => placeholder(`x${i}`, { type: TYPES[dtype] }));
  const node = { name: 'op', op, input: inNodes.map(({ name }) => name), attr: attributes };
  return loadGraph([...inNodes, node]);
}

/** How the outputs of a run differ from TensorFlow's; null: not at all. */
export async function differenceOf(model: tf.GraphModel, { op, inputs, outputs }: StockCase): Promise<string | null> {
  const feeds = Object.fromEntries(inputs.map((input, i) => [`x${i}`, tensorOf(plain(input))]));
  const names = outputs.map((_, i) => `op:${i}`);
  const results = /^(Where|NonMaxSuppressionV[2345])$/.test(op)
    ? await model.executeAsync(feeds, names)
    : model.execute(feeds, names);
  const all = Array.isArray(results) ? results : [results];
  const found = all.map((actual, i) => between(actual, plain(outputs[i]!), i)).find((each) => each !== null);
  tf.dispose([feeds, all]);
  return found ?? null;
}

function between(actual: tf.Tensor | undefined, { dtype, shape, values }: GoldenTensor, i: number): string | null {
  if (actual === undefined) return `no output ${i}`;
  if (actual.dtype !== dtype) return `output ${i}: ${actual.dtype} for ${dtype}`;
  if (String(actual.shape) !== String(shape)) return `output ${i}: [${actual.shape.join()}] for [${shape.join()}]`;
  const own = Array.from(actual.dataSync()) as (number | string)[];
  const isSame = (a: number | string, b: number | string): boolean =>
    Object.is(a, b) ||
    a === b ||
    (dtype === 'float32' && Math.abs(Number(a) - Number(b)) <= 1e-4 * (1 + Math.abs(Number(b))));
  if (own.length === values.length && own.every((value, at) => isSame(value, values[at]!))) return null;
  return `output ${i}: ${own.join()} for ${values.join()}`;
}
