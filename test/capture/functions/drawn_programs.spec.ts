/**
 * Functions that are drawn: statements on variables, tables, layers, batches and numbers that change, which share their
 * tensors at times, with events between the calls. Captured or refused, each call gives what the function gives as it is.
 * TFJS_EMBEDDINGS_FUNCTION_PROGRAMS=400 draws more, TFJS_EMBEDDINGS_TEST_SEED others.
 */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { casesOf } from '../../forms/forms.js';
import { Random } from '../../helpers/random.js';
import { describeSteps } from '../training.js';
import { World, drawEvent, drawStatement, type Scope, type Vector } from './drawn_world.js';

const PROGRAMS = casesOf('TFJS_EMBEDDINGS_FUNCTION_PROGRAMS');
const FIRST = Number(process.env['TFJS_EMBEDDINGS_TEST_SEED'] ?? 1);
const CALLS = 24;

/** What a function gives, in the forms that results have. */
type Form = (values: Vector[], world: World) => unknown;

const FORMS: readonly Form[] = [
  (values) => values,
  (values) => values,
  (values) => ({ loss: values[0], rest: [null, ...values.slice(1)] }),
  ([first]) => first,
  () => undefined,
  // What is no tensor may be another one in each call.
  (values, world) => ({ loss: values[0], stop: world.asked > 9, rest: values.slice(1) }),
];

/** All tensors in what a function gave, and all else. */
function partsOf(given: unknown): { tensors: tf.Tensor[]; others: unknown[] } {
  if (given instanceof tf.Tensor) return { tensors: [given], others: [] };
  if (given === null || typeof given !== 'object') return { tensors: [], others: [given] };
  const parts = Object.values(given).map(partsOf);
  return { tensors: parts.flatMap(({ tensors }) => tensors), others: parts.flatMap(({ others }) => others) };
}

async function run(
  seed: number,
  isCaptured: boolean,
): Promise<{ results: number[][]; agree: boolean; info: string; sharesOwn: boolean }> {
  const random = new Random(seed);
  const world = new World(random);
  const statements = Array.from({ length: random.whole(1, 6) }, () => drawStatement(random));
  const returned = random.whole(1, 3);
  const form = random.pick(FORMS);
  const [readsThis, sharesOwn] = [random.chance(0.2), random.chance(0.1)];
  const compute = (ids: tf.Tensor1D, { a, b }: { a: Vector; b: Vector }, lists: number[], factor: number): unknown =>
    tf.tidy(() => {
      const scope: Scope = { world, values: [tf.mul(tf.add(a, 1), factor) as Vector], ids, given: [a, b], lists };
      for (const each of statements) each(scope);
      const values = scope.values.slice(-returned).map((value) => tf.add(value, 0.5) as Vector);
      return form(values, world) as tf.TensorContainer;
    });
  const self = { factor: 1 };
  function f(this: unknown, ids: tf.Tensor1D, given: { a: Vector; b: Vector }, lists: number[]): unknown {
    return compute(ids, given, lists, readsThis ? (this as typeof self).factor : 1);
  }
  const captured = emb.capture(f);
  const call = isCaptured ? captured : f;
  const results: number[][] = [];
  for (let step = 0; step < CALLS; step++) {
    drawEvent(random)(world);
    const ids = tf.tensor1d([random.whole(0, 5), random.whole(0, 5), 1], 'int32');
    const a = tf.tensor1d(random.floats(3, -1, 1));
    // The same tensor twice, another one with its data, a variable's data.
    const same = [a, a.clone(), world.cells[0]!.clone(), tf.tensor1d(random.floats(3, -1, 1))];
    if (step === 15) self.factor = 2;
    const lists = [1];
    // Now and then a tensor that the function has from elsewhere, too.
    const isOwn = sharesOwn && random.chance(0.2);
    const b = isOwn ? world.kept[0]! : same[random.whole(0, 4)]!;
    const { tensors, others } = partsOf(call.call(self, ids, { a, b: b as Vector }, lists));
    for (const each of [...tensors, ...world.state]) results.push([...(await each.data())] as number[]);
    results.push([...others.map((each) => Number(each ?? 0)), ...lists, world.asked]);
    tf.dispose([tensors, ids, a, ...same.slice(1)]);
  }
  // By a tensor that is both it may be told from neither: then it runs op by op.
  const agree = captured.verify() || sharesOwn;
  const info = `${captured.info.captured} ${captured.info.reason ?? ''}`;
  captured.dispose();
  world.dispose();
  return { results, agree, info, sharesOwn };
}

describeSteps('Functions that are drawn', () => {
  let captured = 0;
  afterAll(() =>
    expect(captured)
      .withContext('captured programs')
      .toBeGreaterThan(PROGRAMS / 2),
  );

  for (let seed = FIRST; seed < FIRST + PROGRAMS; seed++) {
    it(`give what they give op by op: program ${seed}`, async () => {
      const warned = spyOn(console, 'warn');
      const [found, plain] = [await run(seed, true), await run(seed, false)];
      if (found.info.startsWith('true')) captured += 1;
      expect(found.agree).withContext(found.info).toBeTrue();
      if (!found.sharesOwn) expect(warned.calls.allArgs().flat().join()).not.toMatch(/comparison/);
      expect(found.results.length).toBe(plain.results.length);
      found.results.forEach((row, i) =>
        row.forEach((value, j) => {
          const expected = plain.results[i]![j]!;
          if (!(Math.abs(value - expected) <= 1e-5 * Math.max(1, Math.abs(expected)))) {
            fail(`result ${i}, number ${j}: ${value} beside ${expected} (captured: ${found.info})`);
          }
        }),
      );
    });
  }
});
