/**
 * Programs in which one tensor may be taken for another: variables that are assigned within a call, tensors that share
 * memory, numbers that only one call has, and what a function does beside its results.
 */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { lookUp, square, type Bench, type Program } from './user_programs.js';

type Vector = tf.Tensor1D;
type Cell = tf.Variable<tf.Rank.R1>;

const cell = (bench: Bench, value: number): Cell => bench.keep(tf.tidy(() => tf.variable(tf.tensor1d([value]))));
const kept = (bench: Bench, value: number): Vector => bench.keep(tf.keep(tf.tensor1d([value])));

/** What a call works on: its step, and tensors of one number. */
type Body = (x: Vector, step: number) => unknown;

/** A program of one function of a number, which is that of the step; `before` runs before each call. */
function calling(make: (bench: Bench) => { body: Body; before?: (step: number) => void; scoped?: boolean }): Program {
  return (bench, capture) => {
    const { body, before, scoped = true } = make(bench);
    let now = 0;
    const f = capture((x: Vector) => (scoped ? tf.tidy(() => body(x, now) as tf.TensorContainer) : body(x, now)));
    return (step) => {
      now = step;
      before?.(step);
      const x = tf.tensor1d([step]);
      const result = f(x);
      x.dispose();
      return result;
    };
  };
}

export const ORIGINS: Record<string, Program> = {
  'a sum that begins with zero in each call': calling((bench) => {
    const sum = cell(bench, 5);
    return {
      body: (x) => {
        sum.assign(tf.tensor1d([0]));
        sum.assign(tf.add(sum, x));
        return tf.mul(sum, 1);
      },
    };
  }),
  'a state that is reset and goes through two steps': calling((bench) => {
    const [state, total] = [cell(bench, 5), cell(bench, 0)];
    return {
      body: (x) => {
        state.assign(tf.zeros([1]));
        for (let i = 0; i < 2; i++) state.assign(tf.tanh(tf.add(state, x)) as Vector);
        total.assign(tf.add(total, state));
        return tf.add(total, 0);
      },
    };
  }),
  'gradients that are summed up': calling((bench) => {
    const [weight, sum] = [cell(bench, 1), cell(bench, 0)];
    return {
      body: (x) => {
        sum.assign(tf.zeros([1]));
        for (let i = 0; i < 2; i++) {
          const { grads } = tf.variableGrads(() => tf.sum(tf.square(tf.mul(weight, x))).asScalar(), [weight]);
          sum.assign(tf.add(sum, grads[weight.name]!) as Vector);
        }
        weight.assign(tf.sub(weight, tf.mul(sum, 0.001)));
        return tf.sum(weight);
      },
    };
  }),
  'a number of the step in a variable': calling((bench) => {
    const count = cell(bench, 0);
    let asked = 0;
    const give = (): number => ++asked;
    return {
      body: (x) => {
        count.assign(tf.reshape(emb.live(give), [1]));
        return tf.mul(x, count);
      },
    };
  }),
  'a variable that another one is given': calling((bench) => {
    const [online, target] = [cell(bench, 1), cell(bench, 2)];
    return {
      body: (x) => {
        target.assign(online);
        online.assign(tf.add(online, x));
        return tf.mul(x, target);
      },
    };
  }),
  'a target that shared the memory of its source': calling((bench) => {
    const [online, target] = [cell(bench, 1), cell(bench, 9)];
    target.assign(online);
    return {
      body: (x) => tf.mul(x, online),
      before: (step) => void (step === 6 && tf.tidy(() => online.assign(tf.tensor1d([7])))),
    };
  }),
  'a target that follows now and then': calling((bench) => {
    const [online, target] = [cell(bench, 1), cell(bench, 9)];
    return {
      body: (x) => tf.add(tf.mul(x, online), target),
      before(step) {
        if (step % 4 === 3) target.assign(online);
        if (step % 4 === 1) tf.tidy(() => online.assign(tf.tensor1d([step])));
      },
    };
  }),
  'a variable made of a tensor that is used, too': calling((bench) => {
    const first = kept(bench, 2);
    const made: Cell = bench.keep(tf.variable(first));
    return {
      body: (x) => tf.add(tf.mul(x, made), first),
      before: (step) => void (step === 5 && tf.tidy(() => made.assign(tf.tensor1d([3])))),
    };
  }),
  'a copy of weights that is kept': calling((bench) => {
    const weight = cell(bench, 1);
    const copy = bench.keep(tf.keep(weight.clone()));
    return {
      body: (x) => {
        weight.assign(tf.add(weight, x));
        return tf.sub(weight, copy);
      },
    };
  }),
  'one tensor twice, and two with the same data': (_, capture) => {
    const f = capture((x: Vector, y: Vector) => tf.tidy(() => tf.sub(tf.mul(x, 3), y)));
    return (step) => {
      const [x, other] = [tf.tensor1d([step]), tf.tensor1d([2])];
      const same = x.clone();
      const result = f(x, [x, same, other][step % 3]!);
      tf.dispose([x, same, other]);
      return result;
    };
  },
  'lives in the order of the code, one of them unused': calling(() => {
    let asked = 0;
    const [next, tenfold] = [(): number => ++asked, (): number => asked * 10];
    return {
      body: (x) => {
        const [first, second] = [emb.live(next), emb.live(tenfold)];
        emb.live(next);
        return tf.add(tf.mul(x, second), first);
      },
    };
  }),
  'a step that gives nothing': calling((bench) => {
    const table = bench.table(5, 2);
    const optimizer = bench.keep(emb.train.sgd({ learningRate: 0.1 }));
    const ids = bench.keep(tf.keep(tf.tensor1d([0, 3], 'int32')));
    return { body: () => void optimizer.minimize(() => square(lookUp(table, ids))), scoped: false };
  }),
  'a result in the memory of an argument': calling(() => ({ body: (x) => tf.reshape(x, [1, 1]) })),
  'a constant in a variable and as a result': calling((bench) => {
    const given = cell(bench, 0);
    return {
      body: (x) => {
        const before = tf.add(given, x);
        given.assign(tf.ones([1]));
        return [before, tf.fill([2], 3)];
      },
    };
  }),
  'state of a stock optimizer that is put back': (bench, capture) => {
    const weight = cell(bench, 1);
    const optimizer = bench.keep(tf.train.adagrad(0.1));
    const f = capture((x: Vector) =>
      optimizer.minimize(() => tf.sum(tf.square(tf.mul(weight, x))).asScalar(), true, [weight]),
    );
    return (step) => {
      const fields = optimizer as unknown as { accumulatedGrads: { variable: tf.Variable; originalName: string }[] };
      if (step === 6) {
        const [slot] = fields.accumulatedGrads;
        slot!.variable.dispose();
        const variable = tf.tidy(() => tf.variable(tf.tensor1d([50]), false));
        fields.accumulatedGrads = [{ originalName: slot!.originalName, variable }];
      }
      const x = tf.tensor1d([step + 1]);
      const result = f(x);
      x.dispose();
      return result;
    };
  },
  'two tables under a rule of two slots': (bench, capture) => {
    const [a, b] = [bench.table(5, 2), bench.table(5, 2)];
    const optimizer = bench.keep(emb.train.adam({ learningRate: 0.1 }));
    const f = capture((ids: tf.Tensor1D) =>
      optimizer.minimize(() => square(tf.mul(lookUp(a, ids), lookUp(b, ids))), true),
    );
    return () => {
      const ids = bench.ids(3, 5);
      const result = f(ids);
      ids.dispose();
      return result;
    };
  },
  'an object that its method trains': (bench, capture) => {
    class Trainer {
      rate = 1;
      readonly weight = cell(bench, 1);
      readonly step = capture(function (this: Trainer, x: Vector) {
        return tf.tidy(() => tf.mul(tf.mul(this.weight, x), this.rate));
      } as never) as (x: Vector) => tf.Tensor;
    }
    const trainer = new Trainer();
    return (step) => {
      if (step === 6) trainer.rate = 2;
      const x = tf.tensor1d([step]);
      const result = trainer.step(x);
      x.dispose();
      return result;
    };
  },
};

export const ORIGINS_REFUSED: Record<string, [Program, RegExp]> = {
  'a number that only the call has': [
    calling(() => {
      let asked = 0;
      return {
        body: (x) => {
          const rate = 1 / ++asked;
          return tf.mul(
            x,
            emb.live(() => rate),
          );
        },
      };
    }),
    /another function/,
  ],
  'a truth value beside the loss': [
    calling(() => ({ body: (x, step) => ({ loss: tf.mul(x, 2), stop: step >= 6 }), scoped: false })),
    /holds a boolean/,
  ],
  'a name beside the loss': [
    calling(() => ({ body: (x) => ({ loss: tf.mul(x, 2), name: 'n' }), scoped: false })),
    /holds a string/,
  ],
  'a map of results': [
    calling(() => ({ body: (x) => new Map([['loss', tf.mul(x, 2)]]), scoped: false })),
    /object of class Map/,
  ],
  'gradients of a table': [
    calling((bench) => {
      const table = bench.table(5, 2);
      const optimizer = bench.keep(emb.train.sgd({ learningRate: 0.1 }));
      const ids = bench.keep(tf.keep(tf.tensor1d([0, 3], 'int32')));
      return {
        body: () => Object.values(optimizer.computeGradients(() => square(lookUp(table, ids))).grads),
        scoped: false,
      };
    }),
    /JavaScript reads a tensor|object of class IndexedSlices/,
  ],
  'distinct values, whose number the data decide': [
    (_, capture) => {
      const f = capture((x: Vector) =>
        tf.tidy(() => {
          const { values } = tf.unique(x);
          return tf.div(tf.sum(values), values.shape[0]!);
        }),
      );
      return (step) => {
        const x = tf.tensor1d(step < 6 || step % 2 === 0 ? [1, 3, 1, 3] : [1, 1, 1, 1]);
        const result = f(x);
        x.dispose();
        return result;
      };
    },
    /decide the size of what UniqueV2/,
  ],
  'how many boxes are left': [
    (_, capture) => {
      const boxes = [
        [0, 0, 1, 1],
        [0, 0, 1, 0.9],
        [2, 2, 3, 3],
      ];
      const f = capture((scores: Vector) =>
        tf.tidy(() => {
          const found = tf.image.nonMaxSuppression(tf.tensor2d(boxes), scores, 3, 0.5, 0.2);
          return tf.mul(scores, found.shape[0]!);
        }),
      );
      return (step) => {
        const scores = tf.tensor1d(step < 6 ? [0.9, 0.8, 0.7] : [0.9, 0.8, 0.1]);
        const result = f(scores);
        scores.dispose();
        return result;
      };
    },
    /decide the size of what NonMaxSuppression/,
  ],
  'a list that is written': [
    (_, capture) => {
      const list: number[] = [];
      const f = capture((x: Vector, into: number[]) => {
        into.push(1);
        return tf.mul(x, into.length);
      });
      return (step) => {
        const x = tf.tensor1d([step]);
        const result = f(x, list);
        x.dispose();
        return [result, list.length];
      };
    },
    /writes into what it is given/,
  ],
  'a field of this that is written': [
    (_, capture) => {
      class Trainer {
        calls = 0;
        readonly step = capture(function (this: Trainer, x: Vector) {
          this.calls += 1;
          return tf.mul(x, 2);
        } as never) as (x: Vector) => tf.Tensor;
      }
      const trainer = new Trainer();
      return (step) => {
        const x = tf.tensor1d([step]);
        const result = trainer.step(x);
        x.dispose();
        return [result, trainer.calls];
      };
    },
    /writes into what it is given/,
  ],
  'an argument that is also a tensor of the function': [
    (bench, capture) => {
      const own = kept(bench, 2);
      const f = capture((x: Vector) => tf.tidy(() => tf.mul(x, own)));
      return (step) => {
        const other = tf.tensor1d([step]);
        const result = f(step < 5 ? own : other);
        other.dispose();
        return result;
      };
    },
    /other ops/,
  ],
  'numbers of an array that is filled anew': [
    (_, capture) => {
      const numbers = new Float32Array(1);
      const f = capture((x: Vector, given: Float32Array) => tf.tidy(() => tf.mul(x, tf.tensor1d(given.slice()))));
      return (step) => {
        numbers[0] = step;
        const x = tf.tensor1d([2]);
        const result = f(x, numbers);
        x.dispose();
        return result;
      };
    },
    /Float32Array, whose contents may change/,
  ],
  'a learning rate that the call sets': [
    calling((bench) => {
      const weight = cell(bench, 1);
      const optimizer = bench.keep(emb.train.sgd({ learningRate: 0.1 }));
      return {
        body: (x, step) => {
          optimizer.setLearningRate(0.01 / (1 + Math.floor(step / 7)));
          return optimizer.minimize(() => tf.sum(tf.square(tf.mul(weight, x))).asScalar(), true, [weight]);
        },
        scoped: false,
      };
    }),
    /sets the learning rate/,
  ],
  'weights that are put in, and then stepped': [
    calling((bench) => {
      const table = bench.table(5, 2);
      const first = bench.keep(tf.keep(tf.ones([5, 2]) as tf.Tensor2D));
      const optimizer = bench.keep(emb.train.sgd({ learningRate: 0.1 }));
      const ids = bench.keep(tf.keep(tf.tensor1d([0, 3], 'int32')));
      return {
        body: () => {
          table.assign(first);
          return optimizer.minimize(() => square(lookUp(table, ids)), true);
        },
        scoped: false,
      };
    }),
    /gave another tensor before/,
  ],
};
