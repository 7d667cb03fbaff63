/** What functions that are drawn are made of: what they work on, statements, and what happens between calls. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import type { Random } from '../../helpers/random.js';

export type Vector = tf.Tensor1D;
type Cell = tf.Variable<tf.Rank.R1>;
type Table = tf.Variable<tf.Rank.R2>;

/** What the statements of a program work on. */
export class World {
  readonly cells: Cell[];
  readonly table: Table;
  /** A second one, which is looked up and stepped with the first. */
  readonly other: Table;
  readonly layers: tf.layers.Layer[];
  readonly optimizers: tf.Optimizer[];
  /** Of rules with several slots. */
  readonly ofTables: emb.SparseOptimizer[];
  /** One for each layer: stock optimizers know variables by their places in a list. */
  readonly ofLayers: tf.Optimizer[];
  readonly kept: tf.Tensor[] = [];
  /** Numbers of JavaScript that change between calls. */
  factor = 1;
  asked = 0;
  readonly giveFactor = (): number => this.factor;
  readonly giveCount = (): number => ++this.asked;

  constructor(random: Random) {
    this.cells = [0, 1, 2].map(() => tf.tidy(() => tf.variable(tf.tensor1d(random.floats(3, -1, 1)))));
    this.table = tf.tidy(() => tf.variable(tf.tensor2d(random.floats(15, -1, 1), [5, 3])));
    this.other = tf.tidy(() => tf.variable(tf.tensor2d(random.floats(15, -1, 1), [5, 3])));
    const values = (shape: number[]): tf.Tensor => tf.tensor(random.floats(tf.util.sizeFromShape(shape), -1, 1), shape);
    this.layers = [
      tf.layers.dense({ units: 3, activation: 'softmax', inputShape: [3] }),
      tf.layers.lstm({ units: 3, recurrentInitializer: 'glorotNormal', inputShape: [1, 3] }),
    ];
    for (const [i, layer] of this.layers.entries()) {
      tf.dispose(tf.tidy(() => layer.apply(tf.zeros(i === 0 ? [1, 3] : [1, 1, 3])) as tf.Tensor));
      tf.tidy(() => layer.setWeights(layer.getWeights().map(({ shape }) => values(shape))));
    }
    this.optimizers = [
      emb.train.sgd({ learningRate: 0.1 }),
      emb.train.adam({ learningRate: 0.05 }),
      emb.train.adagrad({ learningRate: (step) => 0.1 / (1 + step) }),
      tf.train.adagrad(0.1),
      tf.train.adam(0.05),
    ];
    this.ofLayers = [tf.train.adam(0.05), tf.train.rmsprop(0.01)];
    this.ofTables = [
      emb.train.adam({ learningRate: 0.05, amsgrad: true }),
      emb.train.ftrl({ learningRate: 0.1 }),
      emb.train.rmsprop({ learningRate: 0.02, centered: true }),
      emb.train.adamW({ learningRate: 0.05 }),
    ];
    // Variables and tensors that lie in one another's memory from the start.
    if (random.chance(0.5)) this.cells[1]!.assign(this.cells[0]!);
    if (random.chance(0.5)) this.kept.push(tf.keep(this.cells[0]!.clone()));
    if (random.chance(0.3)) this.kept.push(tf.keep(tf.tidy(() => this.cells[2]!.reshape([3]))));
    if (random.chance(0.3)) this.other.assign(this.table);
    for (let i = 0; i < 2; i++) this.kept.push(tf.keep(tf.tensor1d(random.floats(3, -1, 1))));
  }

  get state(): tf.Tensor[] {
    return [...this.cells, this.table, this.other, ...this.layers.flatMap((layer) => layer.getWeights())];
  }

  /** Another one in the place of the last: as many as before. */
  replaceKept(now: tf.Tensor): void {
    this.kept.pop()?.dispose();
    this.kept.push(now);
  }

  dispose(): void {
    tf.dispose([...this.cells, this.table, this.other, ...this.kept]);
    for (const each of [...this.optimizers, ...this.ofTables, ...this.ofLayers, ...this.layers]) each.dispose();
  }
}

/** What a statement sees: tensors so far, and the batch. */
export interface Scope {
  readonly world: World;
  readonly values: Vector[];
  readonly ids: tf.Tensor1D;
  readonly given: readonly Vector[];
  /** A list of numbers that the call is given. */
  readonly lists: number[];
}

export type Statement = (scope: Scope) => void;

const last = ({ values }: Scope): Vector => values.at(-1)!;

/** Draws one statement: what it does is the same in each call. */
export function drawStatement(random: Random): Statement {
  const cell = random.whole(0, 3);
  const [optimizer, kept, given] = [random.whole(0, 5), random.whole(0, 2), random.whole(0, 2)];
  const number = random.floats(1, -1, 1)[0]!;
  const [layer, ofTables] = [random.whole(0, 2), random.whole(0, 4)];
  const through = ({ world }: Scope, x: Vector): Vector => {
    const given = x.reshape(layer === 0 ? [1, 3] : [1, 1, 3]);
    return (world.layers[layer]!.apply(given) as tf.Tensor).reshape([3]);
  };
  const keptOf = ({ world }: Scope): Vector => world.kept[kept % world.kept.length] as Vector;
  const cellOf = ({ world }: Scope, which = cell): Cell => world.cells[which]!;
  const push =
    (f: (scope: Scope) => tf.Tensor): Statement =>
    (scope) =>
      void scope.values.push(f(scope) as Vector);
  const loss = (scope: Scope): tf.Scalar =>
    tf.mean(tf.square(tf.sub(tf.mul(cellOf(scope), last(scope)), 0.3))).asScalar();
  const statements: readonly Statement[] = [
    push((scope) => tf.mul(last(scope), cellOf(scope))),
    push((scope) => tf.add(last(scope), keptOf(scope))),
    push((scope) => tf.add(scope.given[given]!, last(scope))),
    push((scope) => tf.mul(last(scope), emb.live(scope.world.giveFactor))),
    push((scope) => tf.add(last(scope), emb.live(scope.world.giveCount))),
    push((scope) => cellOf(scope).clone() as Vector),
    push((scope) => last(scope).reshape([3])),
    push((scope) => tf.mul(last(scope), number)),
    push((scope) => tf.sum(emb.embeddingLookup(scope.world.table, scope.ids) as tf.Tensor, 0)),
    (scope) => cellOf(scope).assign(tf.zeros([3])),
    (scope) => cellOf(scope).assign(last(scope)),
    (scope) => cellOf(scope).assign(tf.tanh(tf.add(cellOf(scope), last(scope))) as Vector),
    // Not itself, which tfjs does not take.
    (scope) => cellOf(scope).assign(cellOf(scope, (cell + 1) % 3)),
    (scope) => cellOf(scope).assign(keptOf(scope)),
    (scope) => cellOf(scope).assign(tf.fill([3], 1).mul(emb.live(scope.world.giveFactor)) as Vector),
    (scope) =>
      void scope.world.optimizers[optimizer]!.minimize(() => loss(scope), false, [cellOf(scope) as tf.Variable]),
    (scope) =>
      void scope.world.optimizers[optimizer % 3]!.minimize(() =>
        tf.mean(tf.square(emb.embeddingLookup(scope.world.table, scope.ids))).asScalar(),
      ),
    push((scope) => through(scope, last(scope))),
    push((scope) => tf.softmax(last(scope))),
    push((scope) => tf.sum(emb.embeddingLookup(scope.world.other, scope.ids) as tf.Tensor, 0)),
    // Asked for, and not used.
    (scope) => void emb.live(scope.world.giveCount),
    // A sum that begins anew, a weight that is put away for a moment, two that change places.
    (scope) => {
      const sum = cellOf(scope);
      sum.assign(tf.zeros([3]));
      for (const each of scope.values.slice(-2)) sum.assign(tf.add(sum, each));
      scope.values.push(tf.mul(sum, 2));
    },
    (scope) => {
      const [weight, before] = [cellOf(scope), cellOf(scope).clone() as Vector];
      weight.assign(tf.zeros([3]));
      scope.values.push(tf.add(weight, last(scope)));
      weight.assign(before);
    },
    (scope) => {
      const [a, b] = [cellOf(scope), cellOf(scope, (cell + 1) % 3)];
      const before = a.clone() as Vector;
      a.assign(b);
      b.assign(before);
    },
    (scope) => {
      const { gradients } = { gradients: tf.variableGrads(() => loss(scope), [cellOf(scope) as tf.Variable]).grads };
      cellOf(scope).assign(tf.sub(cellOf(scope), tf.mul(0.1, gradients[cellOf(scope).name]!)) as Vector);
    },
    ({ world, ids }) =>
      void world.ofTables[ofTables]!.minimize(() => {
        const rows = [world.table, world.other].map((table) => emb.embeddingLookup(table, ids) as tf.Tensor);
        return tf.mean(tf.square(tf.sub(tf.mul(rows[0]!, rows[1]!), 0.3))).asScalar();
      }),
    (scope) =>
      void scope.world.ofLayers[layer]!.minimize(
        () => tf.mean(tf.square(tf.sub(through(scope, last(scope)), 0.3))).asScalar(),
        false,
        scope.world.layers[layer]!.trainableWeights.map((weight) => weight.read() as tf.Variable),
      ),
    // What cannot be repeated, and is to be refused.
    (scope) => {
      if (number > 0.8) (scope.world.optimizers[0] as emb.SparseOptimizer).setLearningRate(0.1 + scope.world.asked / 9);
    },
    (scope) => {
      if (number < -0.8) scope.world.replaceKept(tf.keep(tf.neg(last(scope))));
    },
    (scope) => {
      if (number > 0.7) scope.lists.push(scope.lists.length);
    },
    (scope) => {
      if (number < -0.8) {
        const boxes = scope.values.map((each) => [0, 0, 1, 1 + Math.min(1, each.size / 9)]);
        const scores = last(scope).slice([0], [1]).tile([boxes.length]) as Vector;
        scope.values.push(tf.mul(last(scope), tf.image.nonMaxSuppression(boxes, scores, 2, 0.5, 0).size));
      }
    },
    (scope) => {
      if (number > 0.8) scope.values.push(tf.mul(last(scope), tf.unique(scope.ids).values.shape[0]!));
    },
    (scope) => {
      if (number > 0.8)
        scope.values.push(
          tf.mul(
            last(scope),
            emb.live(() => scope.world.factor),
          ),
        );
    },
    (scope) => {
      if (number < -0.8) scope.world.kept.push(tf.keep(tf.neg(last(scope))));
    },
  ];
  return random.pick(statements);
}

/** Draws what happens before a call. */
export function drawEvent(random: Random): (world: World) => void {
  const [cell, number] = [random.whole(0, 3), random.floats(1, -1, 1)[0]!];
  const events: readonly ((world: World) => void)[] = [
    ({ cells }) => cells[cell]!.assign(cells[(cell + 1) % 3]!),
    ({ cells }) => tf.tidy(() => cells[cell]!.assign(tf.fill([3], number))),
    ({ cells, kept }) => cells[cell]!.assign(kept[0] as Vector),
    ({ table }) => tf.tidy(() => table.assign(tf.mul(table, 0.9) as tf.Tensor2D)),
    (world) => void (world.factor = number),
    ({ table, other }) => other.assign(table),
    ({ ofTables, optimizers }) => {
      for (const each of [ofTables[cell]!, optimizers[0] as emb.SparseOptimizer])
        each.setLearningRate(0.1 + number / 20);
    },
    ({ layers }) =>
      tf.tidy(() => {
        const layer = layers[cell % 2]!;
        layer.setWeights(layer.getWeights().map((weight) => weight.mul(0.9)));
      }),
    // Again in the place where they lie.
    ({ layers }) => tf.tidy(() => layers[cell % 2]!.setWeights(layers[cell % 2]!.getWeights())),
  ];
  return random.chance(0.6) ? () => undefined : random.pick(events);
}
