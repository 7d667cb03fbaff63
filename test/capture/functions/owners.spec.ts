/** Captured functions that see which object they are called on, and those that do not. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeSteps } from '../training.js';

describeSteps('Captured functions called on two objects', () => {
  interface Rated {
    readonly rate: number;
  }
  type Unary = (this: Rated, x: tf.Tensor) => tf.Tensor;
  const [one, other] = [{ rate: 2 }, { rate: 3 }];
  let calls = 0;
  const counted = (x: tf.Tensor): tf.Tensor => (calls++, x);
  /** From a text, as no formatter leaves it. */
  const made = (text: string): Unary => new Function('tf', 'counted', `return ${text};`)(tf, counted) as Unary;

  for (const [title, f] of Object.entries<Unary>({
    'as functions': function (x) {
      return tf.mul(counted(x), this.rate);
    },
    'as methods': made('({ scale(x) { return tf.mul(counted(x), this.rate); } }).scale'),
    'as methods with a name in brackets': made("({ ['a b'](x) { return tf.mul(counted(x), this.rate); } })['a b']"),
    'as methods with the name of an arrow': made(
      "({ '=>'(x) { return tf.mul(counted(x), (() => this.rate)()); } })['=>']",
    ),
    'through eval': made('({ scale(x) { return tf.mul(counted(x), eval("th" + "is").rate); } }).scale'),
  })) {
    it(`${title}, take the numbers of each`, () => {
      const step = emb.capture(f as (x: tf.Tensor) => tf.Tensor);
      const x = tf.scalar(1);
      for (const owner of [one, other, one, other, one, other, one, other]) {
        const y = step.call(owner, x);
        expect(y.dataSync()[0]).toBe(owner.rate);
        y.dispose();
      }
      expect(step.info.captured).toBeTrue();
      step.dispose();
      x.dispose();
    });
  }

  for (const [title, f] of Object.entries<Unary>({
    functions: function (x) {
      return tf.neg(counted(x));
    },
    methods: made('({ _this(thisOne) { return tf.neg(counted(thisOne)); } })._this'),
    'arrows that say this': made('(x) => tf.mul(counted(x), this === null ? 1 : -1)'),
    'arrows of a bare name that say this': made('$x_1 => tf.mul(counted($x_1), this === null ? 1 : -1)'),
    'arrows of a letter that say this': made('x=>tf.mul(counted(x), this === null ? 1 : -1)'),
  })) {
    it(`are one kind of call for ${title}, which see neither`, () => {
      /** How many of 12 calls run op by op. */
      const plainCalls = (...owners: Rated[]): number => {
        const [step, x, before] = [emb.capture(f as (x: tf.Tensor) => tf.Tensor), tf.scalar(1), calls];
        for (let i = 0; i < 12; i++) {
          const y = step.call(owners[i % owners.length]!, x);
          expect(y.dataSync()[0]).toBe(-1);
          y.dispose();
        }
        tf.dispose(x);
        step.dispose();
        return calls - before;
      };
      expect(plainCalls(one, other)).toBe(plainCalls(one));
    });
  }
});
