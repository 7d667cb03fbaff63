import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../../src/node.js';
import { expectRejection } from '../../../helpers/errors.js';
import { expectNoLeakAsync } from '../../../helpers/tensors.js';
import { FLOAT, INT32, loadGraph, placeholder } from '../small_graph.js';

const number = async (model: tf.GraphModel, feeds: tf.NamedTensorMap, output: string): Promise<number> => {
  const result = (await model.executeAsync(feeds, output)) as tf.Tensor;
  const [value] = result.dataSync();
  tf.dispose([feeds, result]);
  return value!;
};

describe('branches of graphs', () => {
  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
    emb.converter.registerOps();
  });

  it('of many: the one of the index runs, the last one for others', async () => {
    const names = ['Neg', 'Square', 'Exp'];
    const model = await loadGraph([
      placeholder('x', FLOAT),
      placeholder('at', INT32),
      { name: 'switch', op: '_SwitchN', input: ['x', 'at'], attr: { T: FLOAT, num_outs: { i: '3' } } },
      ...names.map((op, i) => ({ name: op, op, input: [`switch:${i}`], attr: { T: FLOAT } })),
      { name: 'out', op: 'Merge', input: names, attr: { T: FLOAT, N: { i: '3' } } },
    ]);
    await expectNoLeakAsync(async () => {
      for (const [at, wanted] of [
        [0, -2],
        [1, 4],
        [2, Math.exp(2)],
        [7, Math.exp(2)],
        [-1, Math.exp(2)],
      ] as const) {
        // prettier-ignore
        const feeds = { x: tf.scalar(2), at: tf.scalar(at, 'int32') };
        expect(await number(model, feeds, 'out')).toBeCloseTo(wanted, 5);
      }
    });
    model.dispose();
  });

  it('give values that may be absent', async () => {
    const types = (name: string): object => ({ [name]: { list: { type: ['DT_FLOAT'] } } });
    const some = { name: 'some', op: 'OptionalFromValue', input: ['x'], attr: types('Toutput_types') };
    const none = { name: 'none', op: 'OptionalNone', input: ['^x'], attr: {} };
    const has = (name: string): object => ({ name: `has ${name}`, op: 'OptionalHasValue', input: [name], attr: {} });
    const get = (name: string): object => ({ name: `get ${name}`, op: 'OptionalGetValue', input: [name], attr: types('output_types') }); // prettier-ignore
    const nodes = [placeholder('x', FLOAT), some, none, has('some'), has('none'), get('some'), get('none')];
    const model = await loadGraph(nodes as never);
    const feeds = (): tf.NamedTensorMap => ({ x: tf.scalar(3) });
    await expectNoLeakAsync(async () => {
      expect(await number(model, feeds(), 'has some')).toBe(1);
      expect(await number(model, feeds(), 'has none')).toBe(0);
      expect(await number(model, feeds(), 'get some')).toBe(3);
    });
    await expectRejection(() => number(model, feeds(), 'get none'), 'ValueError', 'optional', 'without');
    model.dispose();
  });
});
