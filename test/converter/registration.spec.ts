/** Registration of ops, and graphs that are refused when they are loaded. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../src/node.js';
import { expectNoLeakAsync } from '../helpers/tensors.js';
import { loadGraph as load, type Node } from './small_graph.js';

async function refusal(node: readonly Node[], extra: object = {}): Promise<Error & { received: string }> {
  try {
    await load(node, extra);
  } catch (error) {
    return error as Error & { received: string };
  }
  throw new Error('the graph was loaded');
}

const int32 = { dtype: { type: 'DT_INT32' } };
const float = { T: { type: 'DT_FLOAT' } };

describe('converter.registerOps', () => {
  beforeAll(async () => {
    await tf.setBackend('cpu');
    emb.converter.registerOps();
  });

  it('returns the same names each time', () => {
    const names = emb.converter.registerOps();
    expect(emb.converter.registerOps()).toEqual(names);
    expect(new Set(names).size).toBe(names.length);
    for (const name of ['SegmentSum', 'RaggedTensorToSparse', 'TensorArrayGradV3', 'DynamicStitch']) {
      expect(names).toContain(name);
    }
  });

  it('registers again what was deregistered', async () => {
    tf.deregisterOp('SegmentSum');
    const error = await refusal([{ name: 's', op: 'SegmentSum' }]);
    expect(error.received).toBe('SegmentSum at "s" (emb.converter.registerOps() registers it)');
    expect(emb.converter.registerOps()).toContain('SegmentSum');
    (await load([{ name: 's', op: 'SegmentSum' }])).dispose();
  });

  it("keeps an op of the user's own", async () => {
    tf.deregisterOp('SegmentSum');
    tf.registerOp('SegmentSum', () => tf.scalar(77));
    emb.converter.registerOps();
    await expectNoLeakAsync(async () => {
      const model = await load([
        { name: 'x', op: 'Placeholder', attr: int32 },
        { name: 's', op: 'SegmentSum', input: ['x', 'x'], attr: float },
      ]);
      const x = tf.tensor1d([0], 'int32');
      const y = model.execute({ x }, 's') as tf.Tensor;
      expect(y.dataSync()[0]).toBe(77);
      tf.dispose([x, y]);
    });
    tf.deregisterOp('SegmentSum');
    emb.converter.registerOps();
  });

  it('refuses unknown ops: their places, what registers them, and all ops of the graph', async () => {
    const many = Array.from({ length: 7 }, (_, i) => ({ name: `f${i}`, op: 'FooLookup', input: ['x'] }));
    const nodes = [{ name: 'x', op: 'Placeholder', attr: int32 }, ...many, { name: 'a/b', op: 'BarLookup' }];
    const error = await refusal(nodes);
    expect(error.name).toBe('ValueError');
    expect(error.received).toContain('FooLookup at "f0", "f1", "f2", "f3", "f4" and 2 more');
    expect(error.received).toContain(`BarLookup at "a/b" (tf.registerOp('BarLookup', (node) => …) registers it)`);
    expect(error.message).toContain('The ops of the graph: BarLookup, FooLookup, Placeholder.');
  });

  it('says what to do where the pairs of a table are in a text file', async () => {
    const error = await refusal([{ name: 'fill', op: 'InitializeTableFromTextFileV2' }]);
    expect(error.received).toMatch(
      /InitializeTableFromTextFileV2 at "fill" \(its file is not .*KeyValueTensorInitializer/,
    );
  });

  it('finds unknown ops in functions', async () => {
    const nodeDef = [{ name: 'inner', op: 'FooLookup' }];
    const library = { function: [{ signature: { name: 'body', inputArg: [], outputArg: [] }, nodeDef, ret: {} }] };
    const error = await refusal([{ name: 'x', op: 'Placeholder', attr: int32 }], { library });
    expect(error.received).toContain('FooLookup at "inner" of the function body');
  });

  it('takes ops that the user registered for known', async () => {
    tf.registerOp('FooLookup', () => tf.scalar(1));
    (await load([{ name: 'x', op: 'FooLookup' }])).dispose();
    tf.deregisterOp('FooLookup');
    expect((await refusal([{ name: 'x', op: 'FooLookup' }])).name).toBe('ValueError');
  });

  it('numbers the outputs of its ops in functions as TensorFlow names them', async () => {
    const argument = (name: string): object => ({ name, type: 'DT_INT32' });
    const body = {
      signature: { name: 'body', inputArg: [argument('x')], outputArg: [argument('out')] },
      nodeDef: [
        { name: 'u', op: 'UniqueWithCounts', input: ['x'], attr: { T: { type: 'DT_INT32' } } },
        { name: 'copy', op: 'Identity', input: ['u:count:0'], attr: { T: { type: 'DT_INT32' } } },
      ],
      ret: { out: 'copy:output:0' },
    };
    const direct = {
      signature: { name: 'direct', inputArg: [argument('x')], outputArg: [argument('out')] },
      nodeDef: [body.nodeDef[0]!],
      ret: { out: 'u:idx:0' },
    };
    const branches = { then_branch: { func: { name: 'body' } }, else_branch: { func: { name: 'direct' } } };
    const model = await load(
      [
        { name: 'cond', op: 'Placeholder', attr: { dtype: { type: 'DT_BOOL' } } },
        { name: 'x', op: 'Placeholder', attr: int32 },
        { name: 'if', op: 'StatelessIf', input: ['cond', 'x'], attr: branches },
      ],
      { library: { function: [body, direct] } },
    );
    const x = tf.tensor1d([5, 7, 5], 'int32');
    for (const [condition, expected] of [
      [true, [2, 1]],
      [false, [0, 1, 0]],
    ] as const) {
      const cond = tf.scalar(condition);
      const y = (await model.executeAsync({ cond, x }, ['if'])) as tf.Tensor;
      expect(Array.from(y.dataSync())).toEqual([...expected]);
      tf.dispose([cond, y]);
    }
    x.dispose();
    model.dispose();
  });
});
