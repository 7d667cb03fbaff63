/**
 * A recording without the ops that change no number: reshapes of reshapes, casts to the same type, sums over nothing,
 * and ops that ran before on the same tensors. A small op costs as much as its numbers.
 */
import { bytesOf, isInPlace, type RecordedOp, type Recording, type TensorKind } from '../recording.js';

/** Ops that give the same for the same inputs, and nothing else. */
export const PURE_OPS: ReadonlySet<string> = new Set([
  ...['Reshape', 'Cast', 'Fill', 'ZerosLike', 'OnesLike', 'Select', 'ExpandDims', 'Transpose'],
  ...['Add', 'AddV2', 'Sub', 'Mul', 'RealDiv', 'Floor', 'Neg', 'Square', 'Sqrt', 'Abs', 'Exp', 'Log', 'IsNan'],
  ...[
    'EmbeddingRowDots',
    'EmbeddingScaledRows',
    'EmbeddingPairDots',
    'EmbeddingCrossEntropy',
    'EmbeddingCrossEntropyGrad',
  ],
  ...['EmbeddingCategoricalLoss', 'EmbeddingCategoricalLossGrad', 'EmbeddingSoftmaxGrad'],
  ...['Greater', 'GreaterEqual', 'Less', 'LessEqual', 'Equal', 'NotEqual', 'LogicalAnd', 'LogicalNot'],
]);

const REDUCTIONS = new Set(['Mean', 'Sum', 'Max', 'Min', 'Prod']);

/** Ops that give their first input where its shape is that of the result. */
const TAKING_ALL = new Set(['Reshape', 'Slice']);

const sameShape = (a: TensorKind | undefined, b: TensorKind | undefined): boolean => {
  const [one, other] = [a?.shape ?? null, b?.shape ?? null];
  return one !== null && other !== null && one.join() === other.join();
};

class Simplifier {
  readonly ops: RecordedOp[] = [];
  readonly #kinds = new Map<string, TensorKind>();
  /** Places whose tensors are those of another place. */
  readonly #same = new Map<string, string>();
  readonly #reshapes = new Map<string, string>();
  readonly #known = new Map<string, string>();

  constructor({ feeds, constants }: Recording) {
    const first = new Map<string, string>();
    for (const each of feeds) this.#kinds.set(each.name, each);
    for (const { name, type, shape, values } of constants) {
      this.#kinds.set(name, { type, shape });
      const key = `${type} ${shape.join('x')} ${Buffer.from(bytesOf(values)).toString('latin1')}`;
      const same = first.get(key);
      if (same === undefined) first.set(key, name);
      else this.#same.set(name, same);
    }
  }

  placeOf(place: string): string {
    return this.#same.get(place) ?? place;
  }

  add(op: RecordedOp): void {
    op.outputs.forEach((kind, i) => this.#kinds.set(i === 0 ? op.node : `${op.node}:${i}`, kind));
    const inputs = op.inputs.map((place) => this.placeOf(place));
    if (op.name === 'Reshape') inputs[0] = this.#reshapes.get(inputs[0]!) ?? inputs[0]!;
    const same = this.#sourceOf(op, inputs);
    if (same !== null) {
      this.#same.set(op.node, same);
      return;
    }
    if (op.name === 'Reshape') this.#reshapes.set(op.node, inputs[0]!);
    this.ops.push({ ...op, inputs });
  }

  /** The place that holds what the op would give; null: none does. */
  #sourceOf(op: RecordedOp, inputs: readonly string[]): string | null {
    if (isInPlace(op) || op.outputs.length !== 1) return null;
    const [from, to] = [this.#kinds.get(inputs[0] ?? ''), op.outputs[0]];
    const isSameType = from !== undefined && from.type === to!.type;
    if (TAKING_ALL.has(op.name) && sameShape(from, to)) return inputs[0]!;
    if (op.name === 'Cast' && isSameType) return inputs[0]!;
    if (REDUCTIONS.has(op.name) && isSameType && from.shape?.length === 0) return inputs[0]!;
    if (!PURE_OPS.has(op.name)) return null;
    const key = `${op.name} ${JSON.stringify(op.attributes)} ${inputs.join()}`;
    const before = this.#known.get(key) ?? null;
    if (before === null) this.#known.set(key, op.node);
    return before;
  }
}

/** The same step, to the bit, in fewer ops. */
export function simplified(recording: Recording): Recording {
  const simplifier = new Simplifier(recording);
  recording.ops.forEach((op) => simplifier.add(op));
  return {
    ...recording,
    ops: simplifier.ops,
    results: recording.results.map((place) => simplifier.placeOf(place)),
    rebound: recording.rebound.map(({ variable, place }) => ({ variable, place: simplifier.placeOf(place) })),
  };
}
