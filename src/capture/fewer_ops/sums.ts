/**
 * Sums of many tensors as one op: tfjs adds them two by two. Products that are only added up are summed as they are
 * made. Terms stay in their order, so that sums are the same to the bit.
 */
import type { AttributeKinds } from '../graph_def.js';
import { countOf, joined, kindOfProduct, PRODUCTS } from './products.js';
import type { RecordedOp, Recording } from '../recording.js';
import { kindsOf, makersOf, usesOf } from '../places.js';

const FLOAT = 1;
const ADDITIONS = new Set(['Add', 'AddV2']);
/** Numbers of a sum that one thread adds up; larger ones are better off with TensorFlow and all its threads. */
const MOST_NUMBERS = 2 ** 17;

/** Finds chains of additions of tensors of one shape, each to the sum of those before. */
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
    if (sum!.shape.reduce((product, size) => product * size, 1) > MOST_NUMBERS) return false;
    return inputs.every((place) => this.#kinds.get(place)?.shape?.join() === sum!.shape!.join());
  }

  /** The op that makes a place for one taker alone. */
  onlyFor(place: string): RecordedOp | null {
    return this.#uses.get(place) === 1 ? (this.#makers.get(place) ?? null) : null;
  }

  /** The addition that makes what this one adds to, for it alone. */
  before({ inputs }: RecordedOp): RecordedOp | null {
    const maker = this.onlyFor(inputs[0]!);
    return maker !== null && this.isPlain(maker) ? maker : null;
  }

  /** What is added up, in that order. */
  termsOf(last: RecordedOp): string[] {
    const terms: string[] = [];
    let op = last;
    for (let before = this.before(op); before !== null; before = this.before(op)) {
      terms.push(op.inputs[1]!);
      op = before;
    }
    return [...op.inputs, ...terms.reverse()];
  }
}

/** Terms that follow one another and that one op can add up: products of one kind, or anything. */
interface Run {
  readonly kind: string | null;
  readonly places: string[];
}

class Sum {
  readonly ops: RecordedOp[] = [];

  constructor(
    private readonly root: RecordedOp,
    private readonly additions: Additions,
    private readonly kinds: AttributeKinds,
  ) {
    let sum: string | null = null;
    const runs = this.#runs();
    runs.forEach(({ kind, places }, i) => {
      const node = i === runs.length - 1 ? root.node : `${root.node}_part${i}`;
      sum = kind === null ? this.#add(node, sum, places) : this.#addProducts(node, sum, places);
    });
  }

  #runs(): Run[] {
    const runs: Run[] = [];
    for (const place of this.additions.termsOf(this.root)) {
      const maker = this.additions.onlyFor(place);
      const kind = maker?.name === PRODUCTS ? kindOfProduct(maker) : null;
      const last = runs.at(-1);
      if (last !== undefined && last.kind === kind) last.places.push(place);
      else runs.push({ kind, places: [place] });
    }
    const [first, second] = runs;
    // A product that is alone at the start is a term like any other.
    if (first!.kind === null || first!.places.length > 1) return runs;
    if (second!.kind === null) return [{ kind: null, places: [...first!.places, ...second!.places] }, ...runs.slice(2)];
    return [{ kind: null, places: first!.places }, ...runs.slice(1)];
  }

  #add(node: string, before: string | null, places: readonly string[]): string {
    const inputs = before === null ? [...places] : [before, ...places];
    if (inputs.length === 1) return inputs[0]!;
    if (inputs.length === 2) {
      this.ops.push({ ...this.root, node, inputs });
      return node;
    }
    const inputTypes = inputs.map(() => FLOAT);
    const attributes = [countOf(this.kinds, inputs.length)];
    this.ops.push({ ...this.root, node, name: 'EmbeddingSum', attributes, inputs, inputTypes });
    return node;
  }

  #addProducts(node: string, before: string | null, places: readonly string[]): string {
    const products = places.map((place) => this.additions.onlyFor(place)!);
    const { outputs } = this.root;
    const op = joined(this.kinds, { node, name: 'EmbeddingProductSum' }, products, outputs);
    const start = before === null ? [] : [before];
    const attributes = [...op.attributes, { ...countOf(this.kinds, start.length), name: 'S' }];
    const inputs = [...start, ...op.inputs];
    this.ops.push({ ...op, attributes, inputs, inputTypes: inputs.map(() => FLOAT) });
    return node;
  }
}

/** The same step with such sums in one op each. */
export function withSums(recording: Recording, kinds: AttributeKinds): Recording {
  const additions = new Additions(recording);
  const plain = recording.ops.filter((op) => additions.isPlain(op));
  const inner = new Set(plain.map((op) => additions.before(op)));
  const ops = recording.ops.flatMap((op) => {
    if (!additions.isPlain(op)) return [op];
    return inner.has(op) ? [] : new Sum(op, additions, kinds).ops;
  });
  return { ...recording, ops };
}
