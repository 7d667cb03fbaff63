/** Lookup tables, stacks, tensor lists and ragged variants of graphs, against programs that real TensorFlow ran. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { GRAPH_OPS } from '../../../src/formats/graph_models/graph_ops.js';
import { describeForBackends } from '../../helpers/backends.js';
import { expectClose, expectNoLeakAsync } from '../../helpers/tensors.js';
import { expectBlame } from './golden_ops.js';
import { runProgram, statefulGoldens, type Outcome } from './stateful_programs.js';

const { programs, signatures } = statefulGoldens();

const CLASSES: Readonly<Record<string, string>> = {
  InvalidArgumentError: 'ValueError',
  ValueError: 'ValueError',
  InternalError: 'ValueError',
  FailedPreconditionError: 'RuntimeError',
  UnimplementedError: 'RuntimeError',
};

/** Of another dtype than said: a TypeError, as everywhere here. */
const TYPE_ERRORS: readonly string[] = ['Rows as variants, read as another dtype'];

/** Tensors that were made since the scope began and still live. */
function tensorsOfScope(): tf.Tensor[] {
  const { activeScope } = tf.engine().state as unknown as { activeScope: { track: tf.Tensor[] } };
  return activeScope.track.filter(({ isDisposed }) => !isDisposed);
}

function expectOutcome({ actual, expected, what }: Outcome, order: readonly number[] | null): void {
  expect(actual.dtype).withContext(what).toBe(expected.dtype);
  expect(actual.shape).withContext(what).toEqual(expected.shape);
  const values = Array.from(actual.dataSync()) as unknown[];
  const width = values.length / (order?.length || 1);
  const sorted = order?.flatMap((at) => values.slice(at * width, (at + 1) * width)) ?? values;
  if (expected.dtype === 'string') expect(sorted).withContext(what).toEqual(expected.values);
  else expectClose(sorted as number[], expected.values as number[], 0, what);
}

function expectOutcomes(outcomes: readonly Outcome[]): void {
  let order: number[] | null = null;
  for (const outcome of outcomes) {
    if (outcome.sorted && outcome.what.endsWith('output 0')) {
      const keys = Array.from(outcome.actual.dataSync()) as (number | string)[];
      order = keys.map((_, i) => i).sort((a, b) => (keys[a]! < keys[b]! ? -1 : 1));
    }
    expectOutcome(outcome, outcome.sorted ? order : null);
  }
}

describeForBackends(
  'objects of graphs as TensorFlow',
  () => {
    beforeAll(() => void emb.converter.registerOps());

    for (const program of programs) {
      it(program.name, async () => {
        await expectNoLeakAsync(async () => {
          // tfjs-converter leaves what an asynchronous run made before it failed.
          tf.engine().startScope();
          let outcomes: Outcome[] = [];
          let thrown: Error | null = null;
          try {
            outcomes = await runProgram(program);
          } catch (error) {
            thrown = error as Error;
          }
          const expected = TYPE_ERRORS.includes(program.name) ? 'TypeError' : CLASSES[program.error ?? ''];
          expect(thrown?.name).withContext(String(thrown?.message)).toBe(expected!);
          if (thrown !== null) {
            const ops = program.steps.map(({ op }) => signatures.find(({ name }) => name === op)!);
            const attributes = program.steps.map((step) => step.attributes);
            expectBlame(thrown, ops, attributes);
          }
          expectOutcomes(outcomes);
          tf.dispose(outcomes.map(({ actual }) => actual));
          const left = tensorsOfScope();
          if (thrown === null) expect(left.length).toBe(0);
          tf.engine().endScope();
        });
      });
    }
  },
  ['cpu native', 'wasm', 'tensorflow'],
);

describe('signatures of ops with objects', () => {
  for (const { name, inputs, outputs } of signatures.filter((each) => GRAPH_OPS.has(each.name))) {
    it(`${name} is defined as in TensorFlow`, () => {
      const { signature } = GRAPH_OPS.get(name)!;
      expect(signature.inputs).toEqual(inputs);
      expect(signature.outputs).toEqual(outputs);
    });
  }
});
