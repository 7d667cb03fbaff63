import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { expectNoLeakAsync } from '../../helpers/tensors.js';
import { loadGraph, placeholder } from '../../formats/graph_models/small_graph.js';

const BOOL = { type: 'DT_BOOL' };
const named = (name: string): object => ({ func: { name } });
const checked = {
  signature: {
    name: 'checked',
    inputArg: [{ name: 'x', type: 'DT_BOOL' }],
    outputArg: [{ name: 'y', type: 'DT_BOOL' }],
  },
  nodeDef: [{ name: 'check', op: 'Assert', input: ['x', 'x'], attr: { T: { list: { type: ['DT_BOOL'] } } } }],
  ret: { y: 'x' },
  controlRet: { check: 'check' },
};
const NODES = [
  placeholder('x', BOOL),
  {
    name: 'branch',
    op: 'If',
    input: ['x', 'x'],
    attr: { then_branch: named('checked'), else_branch: named('checked') },
  },
  { name: 'other', op: 'LogicalNot', input: ['x'] },
];

describe('execute of a graph with branches', () => {
  const lost: unknown[] = [];
  const hear = (error: unknown): void => void lost.push(error);
  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
    emb.converter.registerOps();
    process.on('unhandledRejection', hear);
  });
  afterAll(() => void process.off('unhandledRejection', hear));

  it('starts none of them, and runs what needs none', async () => {
    await expectNoLeakAsync(async () => {
      const model = await loadGraph(NODES, { library: { function: [checked] } });
      const x = tf.scalar(false, 'bool');
      expect(() => model.execute({ x }, 'branch')).toThrowError(/node 'branch'.*op 'If'.*executeAsync/);
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(lost).toEqual([]);
      const other = model.execute({ x }, 'other') as tf.Tensor;
      expect(other.dataSync()[0]).toBe(1);
      tf.dispose([x, other]);
      model.dispose();
    });
  });

  it('starts no difference of lists, which gives promises too', async () => {
    await expectNoLeakAsync(async () => {
      const INT32 = { type: 'DT_INT32' };
      const nodes = [
        placeholder('x', INT32),
        placeholder('y', INT32),
        { name: 'rest', op: 'ListDiff', input: ['x', 'y'], attr: { T: INT32, out_idx: INT32 } },
      ];
      const model = await loadGraph(nodes);
      const given = { x: tf.tensor1d([1, 2, 3], 'int32'), y: tf.tensor1d([2], 'int32') };
      expect(() => model.execute(given, 'rest')).toThrowError(/node 'rest'.*op 'ListDiff'.*executeAsync/);
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(lost).toEqual([]);
      const rest = (await model.executeAsync(given, 'rest')) as tf.Tensor;
      expect([...rest.dataSync()]).toEqual([1, 3]);
      tf.dispose([given.x, given.y, rest]);
      model.dispose();
    });
  });

  it('fails in executeAsync where a check in them does', async () => {
    const model = await loadGraph(NODES, { library: { function: [checked] } });
    const x = tf.scalar(false, 'bool');
    await expectAsync(model.executeAsync({ x }, 'branch')).toBeRejectedWithError(emb.ValueError, /`check`/);
    x.dispose();
    model.dispose();
  });
});
