/** Models of layers of one class in branches with and without masks: what tells their weights apart is where they lie. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { Random } from '../../helpers/random.js';

type Symbolic = tf.SymbolicTensor;

const STEPS = 3;
const UNITS = 2;

/** Draws one model. All weights of one kind have one shape, so that no shape says whose they are. */
export class GraphDrawer {
  readonly #random: Random;
  readonly #inputs: Symbolic[] = [];
  /** Sequences [batch, steps, units], with and without masks. */
  readonly #sequences: Symbolic[] = [];
  readonly #rows: Symbolic[] = [];
  readonly #used = new Set<Symbolic>();

  constructor(private readonly seed: number) {
    this.#random = new Random(seed);
  }

  /** What a layer gives; what it takes is no output of the model. */
  #apply(layer: tf.layers.Layer, taken: readonly Symbolic[], kwargs = {}): Symbolic[] {
    const all = [...taken, ...Object.values(kwargs as Record<string, Symbolic[]>).flat()];
    for (const tensor of all) this.#used.add(tensor);
    return [layer.apply(taken.length === 1 ? taken[0]! : [...taken], kwargs)].flat() as Symbolic[];
  }

  #one(layer: tf.layers.Layer, ...taken: Symbolic[]): Symbolic {
    return this.#apply(layer, taken)[0]!;
  }

  #sequence(): Symbolic {
    if (this.#sequences.length === 0 || this.#random.next() < 0.3) {
      const ids =
        this.#random.next() < 0.7 || this.#inputs.length === 0 ? this.#newIds() : this.#random.pick(this.#inputs);
      const maskZero = this.#random.next() < 0.6;
      const settings = { inputDim: 5, outputDim: UNITS, maskZero };
      const layer = this.#random.next() < 0.5 ? tf.layers.embedding(settings) : emb.layers.embedding(settings);
      this.#sequences.push(this.#one(layer, ids));
      if (this.#random.next() < 0.2)
        this.#sequences.push(this.#one(tf.layers.masking({ maskValue: 0 }), this.#random.pick(this.#sequences)));
    }
    return this.#random.pick(this.#sequences);
  }

  #newIds(): Symbolic {
    const ids = tf.input({ shape: [STEPS], dtype: 'int32', name: `ids_${this.seed}_${this.#inputs.length}` });
    this.#inputs.push(ids);
    return ids;
  }

  /** A recurrent layer: of its kinds, what it gives, and with states of its own or of another one. */
  #loop(): void {
    const kind = this.#random.pick(['lstm', 'gru', 'simpleRNN'] as const);
    const count = kind === 'lstm' ? 2 : 1;
    const settings = {
      units: UNITS,
      returnSequences: this.#random.next() < 0.4,
      returnState: this.#random.next() < 0.3,
    };
    const sequence = this.#sequence();
    const layer = tf.layers[kind](settings as never);
    const states = this.#rows.filter((row) => row.shape[1] === UNITS);
    const first = this.#random.whole(0, Math.max(1, states.length - count + 1));
    const takes = states.length >= count && this.#random.next() < 0.5;
    const initialState = takes ? states.slice(first, first + count) : undefined;
    const results = this.#apply(layer, [sequence], initialState === undefined ? {} : { initialState });
    (settings.returnSequences ? this.#sequences : this.#rows).push(results[0]!);
    this.#rows.push(...results.slice(1));
  }

  #stepwise(): void {
    const layer = this.#random.pick([
      () => tf.layers.dense({ units: UNITS }),
      () => tf.layers.layerNormalization(),
      () => tf.layers.batchNormalization(),
      () => tf.layers.timeDistributed({ layer: tf.layers.dense({ units: UNITS }) }),
      () => tf.layers.activation({ activation: 'tanh' }),
      () =>
        tf.layers.bidirectional({
          layer: tf.layers.gru({ units: 1, returnSequences: true }) as tf.RNN,
          mergeMode: 'concat',
        }),
    ])();
    this.#sequences.push(this.#one(layer, this.#sequence()));
  }

  #merge(): void {
    const pair = [this.#sequence(), this.#sequence()] as const;
    if (pair[0] === pair[1]) return;
    const layer = this.#random.pick([
      () => tf.layers.add(),
      () => tf.layers.average(),
      () => tf.layers.concatenate({ axis: 1 }),
      () => tf.layers.concatenate({ axis: -1 }),
      () => tf.layers.dot({ axes: [2, 2] }),
    ])();
    const result = this.#one(layer, ...pair);
    if (layer.getClassName() === 'Dot') this.#rows.push(this.#one(tf.layers.flatten(), result));
    else if (result.shape[1] !== STEPS) this.#rows.push(this.#one(tf.layers.lstm({ units: UNITS }), result));
    else if (result.shape[2] === UNITS) this.#sequences.push(result);
    else this.#sequences.push(this.#one(tf.layers.dense({ units: UNITS }), result));
  }

  #attention(): void {
    // Keras takes the masks off the very tensors that several heads are given: no other layer may read these.
    const operand = (): Symbolic => this.#one(tf.layers.dense({ units: UNITS }), this.#sequence());
    const [query, value] = [operand(), operand()];
    const layer = this.#random.pick([
      () => emb.layers.multiHeadAttention({ numHeads: 1, keyDim: UNITS }),
      () => emb.layers.attention({ useScale: true }),
      () => emb.layers.additiveAttention({}),
    ])();
    this.#sequences.push(this.#one(layer, query, value));
  }

  #pool(): void {
    const layer = emb.layers.globalAveragePooling1d({});
    this.#rows.push(this.#one(layer, this.#sequence()));
  }

  #row(): void {
    if (this.#rows.length === 0) return;
    this.#rows.push(this.#one(tf.layers.dense({ units: UNITS }), this.#random.pick(this.#rows)));
  }

  /** A model within the model, which may be called twice. */
  #nested(): void {
    const input = tf.input({ shape: [STEPS, UNITS] });
    const inner = tf.layers.dense({ units: UNITS }).apply(tf.layers.dense({ units: UNITS }).apply(input));
    const model = tf.model({ inputs: input, outputs: inner as Symbolic });
    const calls = 1 + this.#random.whole(0, 2);
    for (let i = 0; i < calls; i++) this.#sequences.push(this.#one(model as never, this.#sequence()));
  }

  draw(): tf.LayersModel {
    const steps = 4 + this.#random.whole(0, 7);
    for (let i = 0; i < steps; i++) {
      const kinds = [6, 4, 3, 1, 1, 2, 1];
      const total = kinds.reduce((a, b) => a + b);
      let at = this.#random.whole(0, total);
      const kind = kinds.findIndex((weight) => (at -= weight) < 0);
      [
        () => this.#loop(),
        () => this.#stepwise(),
        () => this.#merge(),
        () => this.#attention(),
        () => this.#pool(),
        () => this.#row(),
        () => this.#nested(),
      ][kind]!();
    }
    const ends = [...this.#sequences, ...this.#rows].filter((each) => !this.#used.has(each));
    return tf.model({ inputs: this.#inputs, outputs: ends });
  }
}
