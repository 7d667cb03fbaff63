import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../../src/node.js';
import { expectError } from '../../../helpers/errors.js';
import { expectNoLeakAsync } from '../../../helpers/tensors.js';
import { FLOAT, INT32, execute, loadGraph, placeholder, text } from '../small_graph.js';

describe('stacks of graphs', () => {
  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
    emb.converter.registerOps();
  });

  it('that are closed take and give nothing: errors that name the stack', async () => {
    await expectNoLeakAsync(async () => {
      const attr = { elem_type: FLOAT, stack_name: text('steps of the loop') };
      const model = await loadGraph([
        placeholder('x', FLOAT),
        placeholder('size', INT32),
        { name: 's', op: 'StackV2', input: ['size'], attr },
        { name: 'in', op: 'StackPushV2', input: ['s', 'x'], attr: { T: FLOAT } },
        { name: 'out', op: 'StackPopV2', input: ['s', '^in'], attr: { elem_type: FLOAT } },
        { name: 'close', op: 'StackCloseV2', input: ['s', '^in'] },
        { name: 'late in', op: 'StackPushV2', input: ['s', 'x', '^close'], attr: { T: FLOAT } },
        { name: 'late out', op: 'StackPopV2', input: ['s', '^close'], attr: { elem_type: FLOAT } },
      ]);
      const feeds = (): tf.NamedTensorMap => ({ x: tf.tensor1d([1, 2]), size: tf.scalar(1, 'int32') });
      expect(execute(model, feeds(), 'out')).toEqual([[1, 2]]);
      for (const late of ['late in', 'late out']) {
        const closed = 'steps of the loop, which is closed';
        expectError(() => execute(model, feeds(), late), 'ValueError', 'handle', closed);
      }
      model.dispose();
    });
  });
});
