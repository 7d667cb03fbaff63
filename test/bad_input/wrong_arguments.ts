/** A table of wrong arguments for one public function: each argument wrong in turn, all others right. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { expectWhole } from '../helpers/errors.js';

export type ErrorName = 'TypeError' | 'ValueError' | 'RuntimeError';

/** What is wrong, the value (or how to make it), the class of the error, and the argument where it is another one. */
export type Wrong = readonly [what: string, value: unknown, name: ErrorName, argument?: string];

/** Arguments by the name under which an error must speak of them. */
export type Arguments = Record<string, unknown>;

export interface Subject {
  /** Right arguments, made anew for each case; tensors among them are disposed afterwards. */
  readonly right: () => Arguments;
  /** Calls the function with these arguments. */
  readonly call: (args: Arguments) => unknown;
  /** By argument: wrong values beyond the hostile ones, which every argument meets. */
  readonly wrong: Readonly<Record<string, readonly Wrong[]>>;
  /** Hostile values that are right for an argument. */
  readonly welcome?: Readonly<Record<string, readonly string[]>>;
  /** The name in the error of hostile values, where it is not the key. */
  readonly named?: Readonly<Record<string, string>>;
  /** What must not change when a call is refused. */
  readonly untouched?: (args: Arguments) => unknown;
}

const MAKERS = new Set<unknown>();

/** A value that is made for each case, because it holds tensors. */
export function made(make: () => unknown): () => unknown {
  MAKERS.add(make);
  return make;
}

/** A trainable variable of ones. */
export function variable(...shape: number[]): tf.Variable {
  return tf.tidy(() => tf.variable(tf.ones(shape)));
}

class Stranger {
  readonly length = 3;
}

/** Values that no argument takes: TypeError, whatever was expected. */
export function hostileValues(): [what: string, value: unknown][] {
  return [
    ['a symbol', Symbol('s')],
    ['a bigint', 10n],
    ['a function', () => 1],
    ['true', true],
    ['a date', new Date(0)],
    ['an instance of a class', new Stranger()],
    ['an object without prototype', Object.create(null)],
    ['a data view', new DataView(new ArrayBuffer(8))],
  ];
}

/** The error that a call throws, or undefined. */
export function thrownBy(run: () => unknown): unknown {
  try {
    const result = run();
    if (result instanceof tf.Tensor) result.dispose();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** The error must have the class and the three facts, all in its message or, in a sentence of its own, the argument. */
export function expectFacts(error: unknown, name: ErrorName, argument: string, what: string): void {
  if (!(error instanceof Error)) {
    fail(`${what}: ${error === undefined ? 'no error' : `not an Error`}`);
    return;
  }
  const { argument: named, expected, received } = error as Error & Record<string, unknown>;
  const shown = `${what}: ${error.name}: ${error.message}`;
  const cls = { TypeError, ValueError: emb.ValueError, RuntimeError: emb.RuntimeError }[name];
  expect(error instanceof cls)
    .withContext(`${shown} (should be ${name})`)
    .toBeTrue();
  expect(error.name).withContext(shown).toBe(name);
  expect(named).withContext(shown).toBe(argument);
  const isOfTemplate = error.message.startsWith(`\`${String(named)}\`: expected `);
  expectWhole(error);
  for (const fact of [named, expected, received]) {
    const isTold = fact === named || isOfTemplate;
    expect(typeof fact === 'string' && fact !== '' && (!isTold || error.message.includes(fact)))
      .withContext(`${shown} | ${String(fact)}`)
      .toBeTrue();
  }
}

function disposeTensors(values: readonly unknown[]): void {
  for (const value of values) {
    if (Array.isArray(value)) disposeTensors(value);
    else if (value instanceof tf.Tensor && !value.isDisposed) value.dispose();
  }
}

function runCase(subject: Subject, key: string, [what, given, name, argument]: Wrong): void {
  const right = subject.right();
  const value = MAKERS.has(given) ? (given as () => unknown)() : given;
  const args = { ...right, [key]: value };
  const label = `${key} = ${what}`;
  const state = (): unknown => subject.untouched?.(right);
  const before = state();
  const tensors = tf.memory().numTensors;
  expectFacts(
    thrownBy(() => subject.call(args)),
    name,
    argument ?? key,
    label,
  );
  expect(tf.memory().numTensors).withContext(`${label}: tensors`).toBe(tensors);
  expect(state()).withContext(`${label}: state`).toEqual(before);
  disposeTensors(Object.values(right));
  if (MAKERS.has(given)) disposeTensors([value]);
}

/** Defines a spec per argument, and one that shows that the right arguments are right. */
export function describeWrongArguments(title: string, subject: Subject): void {
  describe(`wrong arguments of ${title}`, () => {
    let before: number;
    beforeEach(() => (before = tf.memory().numTensors));
    afterEach(() => expect(tf.memory().numTensors).withContext('tensors left').toBe(before));

    it('do not include the right ones', () => {
      const right = subject.right();
      expect(thrownBy(() => subject.call(right))).toBeUndefined();
      disposeTensors(Object.values(right));
    });
    for (const [key, wrong] of Object.entries(subject.wrong)) {
      it(`name ${key}`, () => {
        const welcome = subject.welcome?.[key] ?? [];
        const named = subject.named?.[key] ?? key;
        for (const [what, value] of hostileValues()) {
          if (!welcome.includes(what)) runCase(subject, key, [what, value, 'TypeError', named]);
        }
        for (const each of wrong) runCase(subject, key, each);
      });
    }
  });
}

export async function useCpu(): Promise<void> {
  await emb.ready();
  await tf.setBackend('cpu');
}

/** A tensor that was disposed. */
export function disposedTensor(shape: number[] = [3, 2], dtype: tf.DataType = 'float32'): () => unknown {
  return made(() => {
    const tensor = tf.zeros(shape, dtype);
    tensor.dispose();
    return tensor;
  });
}
