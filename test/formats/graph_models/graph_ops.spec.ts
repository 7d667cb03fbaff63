/** Each op against values of real TensorFlow: through a graph, and those that stock tfjs has by the kernel alone. */
import * as tf from '@tensorflow/tfjs';
import { OPERATIONS } from '../../../src/formats/graph_models/operations.js';
import { runOperation } from '../../../src/formats/graph_models/run_operation.js';
import * as emb from '../../../src/node.js';
import { describeForBackends } from '../../helpers/backends.js';
import { expectClose, expectNoLeakAsync } from '../../helpers/tensors.js';
import { expectBlame, goldenOps, type GoldenOp, type GoldenTensor } from './golden_ops.js';
import { runInGraph, tensorOf } from './one_op_graph.js';

const { cases, signatures } = goldenOps();

function expectTensor(actual: tf.Tensor, { dtype, shape, values }: GoldenTensor, what: string): void {
  expect(actual.dtype).withContext(what).toBe(dtype);
  expect(actual.shape).withContext(what).toEqual(shape);
  const numbers = actual.dataSync();
  if (dtype === 'string')
    expect(Array.from(numbers) as unknown[])
      .withContext(what)
      .toEqual(values);
  else expectClose(numbers, values as number[], 1, what);
}

function runAlone({ op, inputs, attributes }: GoldenOp): tf.Tensor[] {
  const tensors = inputs.map(tensorOf);
  try {
    return runOperation(OPERATIONS.get(op)!, tensors, attributes);
  } finally {
    tf.dispose(tensors);
  }
}

describeForBackends(
  'ops of graphs as TensorFlow',
  () => {
    let ours: Set<string>;
    beforeAll(() => {
      ours = new Set(emb.converter.registerOps());
    });

    for (const golden of cases) {
      const { op, note, outputs } = golden;
      it(`${op}${note === '' ? '' : `: ${note}`}`, async () => {
        const signature = signatures.find(({ name }) => name === op)!;
        await expectNoLeakAsync(async () => {
          let results: tf.Tensor[] = [];
          let thrown: Error | null = null;
          try {
            results = ours.has(op) ? await runInGraph(golden, signature) : runAlone(golden);
          } catch (error) {
            thrown = error as Error;
          }
          expect(thrown?.name)
            .withContext(String(thrown?.message))
            .toBe(outputs === undefined ? 'ValueError' : undefined!);
          if (outputs === undefined) expectBlame(thrown, [signature], [golden.attributes]);
          (outputs ?? []).forEach((expected, i) => expectTensor(results[i]!, expected, `output ${i}`));
          tf.dispose(results);
        });
      });
    }
  },
  ['cpu native', 'wasm', 'tensorflow'],
);

describe('signatures of ops', () => {
  for (const { name, inputs, outputs } of signatures) {
    it(`${name} is defined as in TensorFlow`, () => {
      const { signature } = OPERATIONS.get(name)!;
      expect(signature.inputs).toEqual(inputs);
      expect(signature.outputs).toEqual(outputs);
    });
  }

  it('every op has values of TensorFlow', () => {
    expect([...OPERATIONS.keys()].sort()).toEqual(signatures.map(({ name }) => name).sort());
  });
});
