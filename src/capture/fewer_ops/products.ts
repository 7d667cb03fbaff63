/**
 * Products of small matrices by ops of our own, many in one. tfjs multiplies matrices as batches, and TensorFlow takes
 * longer to prepare such a batch of one small pair than to compute it.
 */
import type { OpAttribute } from '../../backends/tensorflow/node_backend.js';
import type { AttributeKinds } from '../graph_def.js';
import { isExact } from './exact.js';
import type { Constant, RecordedOp, Recording, TensorKind } from '../recording.js';
import { kindsOf, makersOf, outputOf } from '../places.js';

const FLOAT = 1;
const INT = 3;
/** Multiplications of a product that counts as small; larger ones are better off with TensorFlow and all its threads. */
const MOST_WORK = 2 ** 20;

export const PRODUCTS = 'EmbeddingProducts';

/** The sizes of one matrix, as itself or as the only one of a batch; null for anything else. */
function matrixOf(shape: readonly number[] | null | undefined): readonly [number, number] | null {
  const isOne = shape?.length === 2 || (shape?.length === 3 && shape[0] === 1);
  return isOne ? [shape.at(-2)!, shape.at(-1)!] : null;
}

interface OwnProduct {
  readonly name: string;
  readonly attributes: readonly OpAttribute[];
  readonly matrices: readonly (readonly [number, number])[];
}

/**
 * The op of ours for `BatchMatMulV2` of floats of these shapes; null: it is no product of two small matrices, or ours
 * would round otherwise.
 */
export function asProduct(
  kinds: AttributeKinds,
  given: readonly OpAttribute[],
  shapes: readonly (readonly number[] | null | undefined)[],
): OwnProduct | null {
  const [left, right] = shapes.map(matrixOf);
  if (!left || !right) return null;
  const isSet = (name: string): number => (given.some((each) => each.name === name && Boolean(each.value)) ? 1 : 0);
  const work = left[0] * left[1] * right[isSet('adj_y') === 1 ? 0 : 1];
  if (work > MOST_WORK) return null;
  const flag = (name: string, value: number): OpAttribute => ({ name, type: kinds.TF_ATTR_INT, value });
  const flags = [flag('transpose_a', isSet('adj_x')), flag('transpose_b', isSet('adj_y'))];
  const own = { name: PRODUCTS, attributes: [...flags, countOf(kinds, 1)], matrices: [left, right] };
  const [rows, terms] = isSet('adj_x') === 1 ? [left[1], left[0]] : left;
  const size = rows * right[isSet('adj_y') === 1 ? 0 : 1];
  const stock = { name: 'BatchMatMulV2', attributes: given };
  const isSame = isExact({
    key: JSON.stringify([shapes, given, flags]),
    shapes: shapes.map((shape) => shape!),
    size,
    terms,
    stock: (run, factors) => run(stock, factors),
    own: (run, factors) => run(own, factors.map(({ values }, i) => ({ shape: own.matrices[i]!, values }))), // prettier-ignore
  });
  return isSame ? own : null;
}

/** The same step with small products of two matrices each as an op of ours; reshapes around it are left to `simplified`. */
export function withSmallProducts(recording: Recording, kinds: AttributeKinds): Recording {
  const tensors = kindsOf(recording);
  const constants: Constant[] = [...recording.constants];
  const ops: RecordedOp[] = [];
  const reshape = (node: string, from: string, shape: readonly number[]): string => {
    const values = Int32Array.from(shape);
    constants.push({ name: `${node}_shape`, type: INT, shape: [shape.length], values });
    const attributes = [
      { name: 'T', type: kinds.TF_ATTR_TYPE, value: FLOAT },
      { name: 'Tshape', type: kinds.TF_ATTR_TYPE, value: INT },
    ];
    const inputs = [from, `${node}_shape`];
    ops.push({
      node,
      name: 'Reshape',
      attributes,
      inputs,
      inputTypes: [FLOAT, INT],
      outputs: [{ type: FLOAT, shape }],
    });
    return node;
  };
  for (const op of recording.ops) {
    const [out] = op.outputs;
    const isOfFloats = op.name === 'BatchMatMulV2' && out!.type === FLOAT;
    const shapes = op.inputs.map((place) => tensors.get(place)?.shape);
    const product = isOfFloats ? asProduct(kinds, op.attributes, shapes) : null;
    const shape = matrixOf(out?.shape);
    if (product === null || shape === null) {
      ops.push(op);
      continue;
    }
    const { name, attributes, matrices } = product;
    const inputs = op.inputs.map((place, i) => reshape(`${op.node}_factor${i}`, place, matrices[i]!));
    const node = `${op.node}_product`;
    const outputs = [{ type: FLOAT, shape }];
    ops.push({ node, name, attributes, inputs, outputs, inputTypes: [FLOAT, FLOAT] });
    reshape(op.node, node, out!.shape!);
  }
  return { ...recording, ops, constants };
}

/** The attribute that says how many pairs an op takes. */
export function countOf(kinds: AttributeKinds, value: number): OpAttribute {
  return { name: 'N', type: kinds.TF_ATTR_INT, value };
}

/** An op over the pairs of products of one pair each, which agree in what they transpose. */
export function joined(
  kinds: AttributeKinds,
  { node, name }: { readonly node: string; readonly name: string },
  products: readonly RecordedOp[],
  outputs: readonly TensorKind[],
): RecordedOp {
  const factors = [0, 1].flatMap((side) => products.map(({ inputs }) => inputs[side]!));
  const others = products[0]!.attributes.filter((each) => each.name !== 'N');
  const attributes = [...others, countOf(kinds, products.length)];
  return { node, name, attributes, inputs: factors, inputTypes: factors.map(() => FLOAT), outputs };
}

/** What products must agree in to be joined. */
export function kindOfProduct({ attributes }: RecordedOp): string {
  const flags = attributes.filter(({ name }) => name !== 'N');
  return flags.map(({ name, value }) => `${name} ${String(value)}`).join();
}

/** Products that do not wait for one another, by kind: each with as many products before it on the longest way. */
function groupsOf(ops: readonly RecordedOp[]): RecordedOp[][] {
  const makers = makersOf(ops);
  const before = new Map<RecordedOp, number>();
  const groups = new Map<string, RecordedOp[]>();
  for (const op of ops) {
    const depths = op.inputs.map((place) => before.get(makers.get(place)!) ?? 0);
    const depth = Math.max(0, ...depths);
    before.set(op, op.name === PRODUCTS ? depth + 1 : depth);
    if (op.name !== PRODUCTS) continue;
    const key = `${depth} ${kindOfProduct(op)}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [op]);
    else group.push(op);
  }
  return [...groups.values()].filter(({ length }) => length > 1);
}

/** The same step, in which products that do not wait for one another are one op. */
export function withJoinedProducts(recording: Recording, kinds: AttributeKinds): Recording {
  const { ops, results, rebound } = recording;
  const moved = new Map<string, string>();
  const groupOf = new Map<RecordedOp, RecordedOp>();
  for (const group of groupsOf(ops)) {
    const node = `${group[0]!.node}_and_others`;
    const one = joined(
      kinds,
      { node, name: PRODUCTS },
      group,
      group.map(({ outputs }) => outputs[0]!),
    );
    group.forEach((op, i) => {
      groupOf.set(op, one);
      moved.set(op.node, outputOf(node, i));
    });
  }
  const makers = makersOf(ops);
  const placeOf = (place: string): string => moved.get(place) ?? place;
  const done = new Set<RecordedOp>();
  const ordered: RecordedOp[] = [];
  // What a group takes may have run after the first of its members did.
  const add = (given: RecordedOp): void => {
    const op = groupOf.get(given) ?? given;
    if (done.has(op)) return;
    done.add(op);
    for (const place of op.inputs) if (makers.has(place)) add(makers.get(place)!);
    ordered.push({ ...op, inputs: op.inputs.map(placeOf) });
  };
  ops.forEach(add);
  return {
    ...recording,
    ops: ordered,
    results: results.map(placeOf),
    rebound: rebound.map(({ variable, place }) => ({ variable, place: placeOf(place) })),
  };
}
