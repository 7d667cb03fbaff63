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

  it('starts no choice of boxes, which gives promises too', async () => {
    await expectNoLeakAsync(async () => {
      const nodes = [
        ...['boxes', 'scores', 'iou', 'least'].map((name) => placeholder(name, { type: 'DT_FLOAT' })),
        placeholder('most', { type: 'DT_INT32' }),
        { name: 'kept', op: 'NonMaxSuppressionV4', input: ['boxes', 'scores', 'most', 'iou', 'least'] },
      ];
      const model = await loadGraph(nodes);
      const given = {
        boxes: tf.tensor2d([[0, 0, 1, 1]]),
        scores: tf.tensor1d([0.5]),
        most: tf.scalar(1, 'int32'),
        iou: tf.scalar(0.5),
        least: tf.scalar(0),
      };
      expect(() => model.execute(given, 'kept')).toThrowError(/node 'kept'.*op 'NonMaxSuppressionV4'.*executeAsync/);
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(lost).toEqual([]);
      const kept = (await model.executeAsync(given, 'kept')) as tf.Tensor;
      expect([...kept.dataSync()]).toEqual([0]);
      tf.dispose([given, kept]);
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
