/** The weights of a model as values of a graph of ONNX: tables of fewer bits are widened where they are read. */
import type { GraphVariable } from '../saved_model/graph/function_builder.js';
import type { Value } from '../saved_model/graph/value.js';
import type { ModelVariables, SavedVariable } from '../saved_model/variables.js';
import type { OnnxTypeName } from '../../base/protobuf/onnx_messages.js';
import type { Initializer } from './graph/initializer.js';
import type { OnnxGraph, SharedParts } from './graph/onnx_graph.js';

/** Takes the part of each row that `take` names out of rows in words. */
type Part = { readonly bytes: number; readonly from: number };
type Rows = NonNullable<SavedVariable['packed']>;

/** `bytes` of each row from `from` on. */
async function* cut({ codec, dim, words }: Rows, { bytes, from }: Part): AsyncGenerator<Uint8Array> {
  const perRow = 4 * codec.words(dim);
  for await (const piece of words()) {
    const rows = piece.length / perRow;
    const part = new Uint8Array(rows * bytes);
    for (let row = 0; row < rows; row++) {
      const at = row * perRow + from;
      part.set(piece.subarray(at, at + bytes), row * bytes);
    }
    yield part;
  }
}

/** A value of a file as it is planned. */
type Planned = Omit<Initializer, 'size'>;

function part(
  { name, shape, packed }: SavedVariable,
  suffix: string,
  dtype: OnnxTypeName,
  columns: number,
  place: Part,
): Planned {
  return { name: `${name}${suffix}`, dtype, dims: [shape[0]!, columns], pieces: () => cut(packed!, place) };
}

/** What packed rows are made of in a file; those of other codecs are there as the float32 numbers that they stand for. */
const PACKED: Readonly<Record<string, (variable: SavedVariable, rows: Rows) => Planned[]>> = {
  float16: (variable, { dim }) => [part(variable, '', 'float16', dim, { bytes: 2 * dim, from: 0 })],
  int8: (variable, { dim, codec }) => {
    const end = 4 * (codec.words(dim) - 2);
    return [
      part(variable, '/codes', 'uint8', dim, { bytes: dim, from: 0 }),
      part(variable, '/scales', 'float32', 1, { bytes: 4, from: end }),
      part(variable, '/offsets', 'float32', 1, { bytes: 4, from: end + 4 }),
    ];
  },
};

/** Codes as the numbers that they stand for, rounded as lookups here round them. */
function widened(g: OnnxGraph, parts: readonly Value[]): Value {
  const [only] = parts as [Value];
  if (parts.length === 1) return (only.dtype as string) === 'float16' ? g.cast(only, 'float32') : only;
  const [codes, scales, offsets] = parts.map((part) => g.cast(part, 'float32')) as [Value, Value, Value];
  return g.op('Add', [g.op('Mul', [codes, scales], codes), offsets], codes);
}

/** The initializers of a weight: the value itself, or what it is widened from. */
export function partsOf(variable: SavedVariable): Planned[] {
  const { name, dtype, shape, packed, pieces } = variable;
  const form = packed === null ? undefined : PACKED[packed.codec.name];
  return form === undefined ? [{ name, dtype, dims: shape, pieces }] : form(variable, packed!);
}

export function onnxVariables(): SharedParts['variables'] {
  const partsIn = (g: OnnxGraph, variable: GraphVariable): Value[] =>
    partsOf(variable as SavedVariable).map((each) => g.initializer(each));
  return {
    value: (g, variable) => widened(g, partsIn(g, variable)),
    rows(g, variable, ids) {
      const gathered = partsIn(g, variable).map((each) => {
        const shape = [...ids.shape, ...each.shape.slice(1)];
        return g.op('Gather', [each, ids], { dtype: each.dtype, shape }, { axis: { i: 0 } });
      });
      return widened(g, gathered);
    },
  };
}

/** All weights, also those that no node reads: a loaded model has them too. */
export function addWeights(g: OnnxGraph, variables: ModelVariables): Set<string> {
  const parts = variables.list.flatMap(partsOf);
  for (const each of parts) g.initializer(each);
  return new Set(parts.map(({ name }) => name));
}

/** The largest magnitude in a table; Infinity where it holds NaN or Infinity. */
export async function largestIn({ pieces }: SavedVariable): Promise<number> {
  let most = 0;
  for await (const { buffer, byteOffset, byteLength } of pieces()) {
    for (const value of new Float32Array(buffer as ArrayBuffer, byteOffset, byteLength / 4)) {
      if (!(Math.abs(value) <= most)) most = Number.isFinite(value) ? Math.abs(value) : Infinity;
    }
  }
  return most;
}
