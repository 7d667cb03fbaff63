/** Gradients of elementwise functions: values of TensorFlow, see test/goldens/gen_gradient_ops.py. */
import * as tf from '@tensorflow/tfjs';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as emb from '../../../src/node.js';
import { describeForBackends } from '../../helpers/backends.js';
import { ROOT } from '../../helpers/project.js';
import { expectClose, expectNoLeakAsync } from '../../helpers/tensors.js';
import { FLOAT, execute, loadGraph, placeholder } from './small_graph.js';

interface Case {
  readonly op: string;
  readonly inputs: readonly [string, string];
  readonly shape: number[];
  readonly values: readonly [number[], number[], number[]];
}

const { cases } = JSON.parse(readFileSync(join(ROOT, 'test', 'goldens', 'gradient_ops.json'), 'utf8')) as {
  cases: readonly Case[];
};

describeForBackends(
  'gradients of elementwise functions in graphs',
  () => {
    beforeAll(() => void emb.converter.registerOps());

    cases.forEach(({ op, shape, values: [first, second, expected] }, i) => {
      it(`${op} of shape [${shape.join(', ')}] is that of TensorFlow: case ${i}`, async () => {
        await expectNoLeakAsync(async () => {
          const node = { name: 'gradient', op, input: ['a', 'b'], attr: { T: FLOAT } };
          const model = await loadGraph([placeholder('a', FLOAT), placeholder('b', FLOAT), node]);
          const [values] = execute(model, { a: tf.tensor(first, shape), b: tf.tensor(second, shape) }, 'gradient');
          expect(values!.length).toBe(expected.length);
          expectClose(values!, expected, 0, op);
          model.dispose();
        });
      });
    });

    it('ControlTrigger orders nodes and has no value', async () => {
      await expectNoLeakAsync(async () => {
        const model = await loadGraph([
          placeholder('a', FLOAT),
          { name: 'trigger', op: 'ControlTrigger', input: ['^a'] },
          { name: 'after', op: 'SqrtGrad', input: ['a', 'a', '^trigger'], attr: { T: FLOAT } },
        ]);
        expect(execute(model, { a: tf.tensor1d([4]) }, 'after')).toEqual([[0.5]]);
        model.dispose();
      });
    });
  },
  ['cpu native', 'wasm', 'tensorflow'],
);
