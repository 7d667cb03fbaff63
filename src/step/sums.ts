/** Sums of many tensors as one op: tfjs adds them two by two. Products that are only added up are summed as they are made. */
import type { AttributeKinds } from './graph_def.js';
import { countOf, joined, kindOfProduct, PRODUCTS } from './products.js';
import type { RecordedOp, Recording } from './recording.js';
import { kindsOf, makersOf, usesOf } from './places.js';

const FLOAT = 1;
const ADDITIONS = new Set(['Add', 'AddV2']);

/** Finds chains of additions of tensors of one shape. */
class Additions {
  readonly #kinds;
  readonly #makers;
  readonly #uses;

  constructor(recording: Recording) {
    this.#kinds = kindsOf(recording);
    this.#makers = makersOf(recording.ops);
    this.#uses = usesOf(recording);
  }

  isPlain({ name, inputs, outputs }: RecordedOp): boolean {
    const [sum] = outputs;
    if (!ADDITIONS.has(name) || sum!.shape === null || sum!.type !== FLOAT) return false;
    return inputs.every((place) => this.#kinds.get(place)?.shape?.join() === sum!.shape!.join());
  }

  /** The op that makes a place for one taker alone. */
  onlyFor(place: string): RecordedOp | null {
    return this.#uses.get(place) === 1 ? (this.#makers.get(place) ?? null) : null;
  }

  /** What is added up, in the order in which it is. */
  termsOf(op: RecordedOp): string[] {
    return op.inputs.flatMap((place) => {
      const maker = this.onlyFor(place);
      return maker !== null && this.isPlain(maker) ? this.termsOf(maker) : [place];
    });
  }
}

/** The ops that make the sum; the last one is that of the node. */
function sumOf(root: RecordedOp, additions: Additions, kinds: AttributeKinds): RecordedOp[] {
  const terms = additions.termsOf(root);
  const products = new Map<string, RecordedOp[]>();
  const others: string[] = [];
  for (const place of terms) {
    const maker = additions.onlyFor(place);
    if (maker?.name !== PRODUCTS) {
      others.push(place);
      continue;
    }
    const key = kindOfProduct(maker);
    products.set(key, [...(products.get(key) ?? []), maker]);
  }
  const made: RecordedOp[] = [];
  for (const group of products.values()) {
    if (group.length === 1) {
      others.push(group[0]!.node);
      continue;
    }
    const node = `${group[0]!.node}_sum`;
    made.push(joined(kinds, { node, name: 'EmbeddingProductSum' }, group, root.outputs));
    others.push(node);
  }
  if (others.length === 1) return [...made.slice(0, -1), { ...made.at(-1)!, node: root.node }];
  if (others.length === 2) return [...made, { ...root, inputs: others }];
  const ofType = { name: 'T', type: kinds.TF_ATTR_TYPE, value: FLOAT };
  const attributes = [countOf(kinds, others.length), ofType];
  const inputTypes = others.map(() => FLOAT);
  return [...made, { ...root, name: 'AddN', attributes, inputs: others, inputTypes }];
}

/** The same step with such sums in one op each. */
export function withSums(recording: Recording, kinds: AttributeKinds): Recording {
  const additions = new Additions(recording);
  const isInner = new Set(
    recording.ops
      .filter((op) => additions.isPlain(op))
      .flatMap(({ inputs }) => inputs.map((place) => additions.onlyFor(place)))
      .filter((maker) => maker !== null && additions.isPlain(maker)),
  );
  const ops = recording.ops.flatMap((op) => {
    if (!additions.isPlain(op)) return [op];
    return isInner.has(op) ? [] : sumOf(op, additions, kinds);
  });
  return { ...recording, ops };
}
