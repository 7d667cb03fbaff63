/**
 * Functions that are drawn: statements on variables, tables, batches and numbers that change, which share their tensors
 * at times, with events between the calls. Captured or refused, each call gives what the function gives as it is.
 * TFJS_EMBEDDINGS_FUNCTION_PROGRAMS=400 draws more.
 */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { casesOf } from '../../forms/forms.js';
import { Random } from '../../helpers/random.js';
import { describeSteps } from '../training.js';

const PROGRAMS = casesOf('TFJS_EMBEDDINGS_FUNCTION_PROGRAMS');
const CALLS = 24;

type Vector = tf.Tensor1D;
type Cell = tf.Variable<tf.Rank.R1>;

/** What the statements of a program work on. */
class World {
  readonly cells: Cell[];
  readonly table: tf.Variable<tf.Rank.R2>;
  readonly optimizers: tf.Optimizer[];
  readonly kept: tf.Tensor[] = [];
  /** Numbers of JavaScript that change between calls. */
  factor = 1;
  asked = 0;
  readonly giveFactor = (): number => this.factor;
  readonly giveCount = (): number => ++this.asked;

  constructor(random: Random) {
    this.cells = [0, 1, 2].map(() => tf.tidy(() => tf.variable(tf.tensor1d(random.floats(3, -1, 1)))));
    this.table = tf.tidy(() => tf.variable(tf.tensor2d(random.floats(15, -1, 1), [5, 3])));
    this.optimizers = [
      emb.train.sgd({ learningRate: 0.1 }),
      emb.train.adam({ learningRate: 0.05 }),
      emb.train.adagrad({ learningRate: (step) => 0.1 / (1 + step) }),
      tf.train.adagrad(0.1),
      tf.train.adam(0.05),
    ];
    // Variables and tensors that lie in one another's memory from the start.
    if (random.chance(0.5)) this.cells[1]!.assign(this.cells[0]!);
    if (random.chance(0.5)) this.kept.push(tf.keep(this.cells[0]!.clone()));
    this.kept.push(tf.keep(tf.tensor1d(random.floats(3, -1, 1))));
  }

  get state(): tf.Tensor[] {
    return [...this.cells, this.table];
  }

  dispose(): void {
    tf.dispose([...this.cells, this.table, ...this.kept]);
    for (const each of this.optimizers) each.dispose();
  }
}

/** What a statement sees: tensors so far, and the batch. */
interface Scope {
  readonly world: World;
  readonly values: Vector[];
  readonly ids: tf.Tensor1D;
  readonly given: readonly Vector[];
}

type Statement = (scope: Scope) => void;

const last = ({ values }: Scope): Vector => values.at(-1)!;

/** Draws one statement: what it does is the same in each call. */
function drawStatement(random: Random): Statement {
  const cell = random.whole(0, 3);
  const [optimizer, kept, given] = [random.whole(0, 5), random.whole(0, 2), random.whole(0, 2)];
  const number = random.floats(1, -1, 1)[0]!;
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
    // What cannot be repeated, and is to be refused.
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
function drawEvent(random: Random): (world: World) => void {
  const [cell, number] = [random.whole(0, 3), random.floats(1, -1, 1)[0]!];
  const events: readonly ((world: World) => void)[] = [
    ({ cells }) => cells[cell]!.assign(cells[(cell + 1) % 3]!),
    ({ cells }) => tf.tidy(() => cells[cell]!.assign(tf.fill([3], number))),
    ({ cells, kept }) => cells[cell]!.assign(kept[0] as Vector),
    ({ table }) => tf.tidy(() => table.assign(tf.mul(table, 0.9) as tf.Tensor2D)),
    (world) => void (world.factor = number),
  ];
  return random.chance(0.6) ? () => undefined : random.pick(events);
}

async function run(seed: number, isCaptured: boolean): Promise<{ results: number[][]; agree: boolean; info: string }> {
  const random = new Random(seed);
  const world = new World(random);
  const statements = Array.from({ length: random.whole(1, 6) }, () => drawStatement(random));
  const returned = random.whole(1, 3);
  const f = (ids: tf.Tensor1D, a: Vector, b: Vector): tf.Tensor[] =>
    tf.tidy(() => {
      const scope: Scope = { world, values: [tf.add(a, 1) as Vector], ids, given: [a, b] };
      for (const each of statements) each(scope);
      return scope.values.slice(-returned).map((value) => tf.add(value, 0.5));
    });
  const captured = emb.capture(f);
  const call = isCaptured ? captured : f;
  const results: number[][] = [];
  for (let step = 0; step < CALLS; step++) {
    drawEvent(random)(world);
    const ids = tf.tensor1d([random.whole(0, 5), random.whole(0, 5), 1], 'int32');
    const a = tf.tensor1d(random.floats(3, -1, 1));
    // The same tensor twice, another one with its data, a variable's data.
    const same = [a, a.clone(), world.cells[0]!.clone(), tf.tensor1d(random.floats(3, -1, 1))];
    const found = call(ids, a, same[random.whole(0, 4)] as Vector);
    for (const each of [...found, ...world.state]) results.push([...(await each.data())] as number[]);
    tf.dispose([found, ids, a, ...same.slice(1)]);
  }
  const agree = captured.verify();
  const info = `${captured.info.captured} ${captured.info.reason ?? ''}`;
  captured.dispose();
  world.dispose();
  return { results, agree, info };
}

describeSteps('Functions that are drawn', () => {
  for (let seed = 1; seed <= PROGRAMS; seed++) {
    it(`give what they give op by op: program ${seed}`, async () => {
      const warned = spyOn(console, 'warn');
      const [captured, plain] = [await run(seed, true), await run(seed, false)];
      expect(captured.agree).withContext(captured.info).toBeTrue();
      expect(warned.calls.allArgs().flat().join()).not.toMatch(/comparison/);
      captured.results.forEach((row, i) =>
        row.forEach((value, j) => {
          const expected = plain.results[i]![j]!;
          if (!(Math.abs(value - expected) <= 1e-5 * Math.max(1, Math.abs(expected)))) {
            fail(`result ${i}, number ${j}: ${value} beside ${expected} (captured: ${captured.info})`);
          }
        }),
      );
    });
  }
});
