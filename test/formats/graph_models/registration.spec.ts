/** Registration of ops, and graphs that are refused when they are loaded. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { expectNoLeakAsync } from '../../helpers/tensors.js';
import { warningsWhile } from '../../helpers/warnings.js';
import { execute, loadGraph as load, type Node } from './small_graph.js';

async function refusal(
  node: readonly Node[],
  topology: object = {},
  extra: object = {},
): Promise<Error & { received: string }> {
  try {
    await load(node, topology, extra);
  } catch (error) {
    return error as Error & { received: string };
  }
  throw new Error('the graph was loaded');
}

const float32 = { dtype: { type: 'DT_FLOAT' } };
const int32 = { dtype: { type: 'DT_INT32' } };
/** An op that stock tfjs lacks. */
const OURS = { name: 'sums', op: 'SegmentSum' };
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
    const nodes = [{ name: 'x', op: 'Placeholder', attr: int32 }, ...many, { name: 'a/b', op: 'BarLookup' }, OURS];
    const error = await refusal(nodes);
    expect(error.name).toBe('ValueError');
    expect(error.received).toContain('FooLookup at "f0", "f1", "f2", "f3", "f4" and 2 more');
    expect(error.received).toContain(`BarLookup at "a/b" (tf.registerOp('BarLookup', (node) => …) registers it)`);
    expect(error.message).toContain('The ops of the graph: BarLookup, FooLookup, Placeholder, SegmentSum.');
  });

  it('says what to do where the pairs of a table are in a text file', async () => {
    const fill = { name: 'fill', op: 'InitializeTableFromTextFileV2' };
    const initializer = { node: [fill], versions: { producer: 1, minConsumer: 1 } };
    const extra = { modelInitializer: initializer };
    const error = await refusal([{ name: 'x', op: 'Placeholder', attr: int32 }], {}, extra);
    expect(error.received).toMatch(
      /InitializeTableFromTextFileV2 at "fill" of the initializer \(its file is not .*KeyValueTensorInitializer/,
    );
  });

  it('finds unknown ops in functions', async () => {
    const nodeDef = [{ name: 'inner', op: 'FooLookup' }];
    const library = { function: [{ signature: { name: 'body', inputArg: [], outputArg: [] }, nodeDef, ret: {} }] };
    const attr = { then_branch: { func: { name: 'body' } } };
    const call = { name: 'call', op: 'StatelessIf', input: ['x', 'x'], attr };
    const error = await refusal([{ name: 'x', op: 'Placeholder', attr: int32 }, call, OURS], { library });
    expect(error.received).toContain('FooLookup at "inner" of the function body');
  });

  it('takes ops that the user registered for known', async () => {
    tf.registerOp('FooLookup', () => tf.scalar(1));
    (await load([{ name: 'x', op: 'FooLookup' }])).dispose();
    tf.deregisterOp('FooLookup');
    expect((await refusal([{ name: 'x', op: 'FooLookup' }, OURS])).name).toBe('ValueError');
  });

  it('loads a graph of stock ops with a warning where its outputs need no unknown one, and runs the rest of it', async () => {
    await expectNoLeakAsync(async () => {
      const x = { name: 'x', op: 'Placeholder', attr: float32 };
      const nodes = [
        x,
        { name: 'lost', op: 'FooLookup', input: ['x'] },
        { name: 'y', op: 'Neg', input: ['x'] },
        { name: 'z', op: 'Neg', input: ['lost'] },
      ];
      expect((await refusal(nodes)).received).toContain(`FooLookup at "lost" (tf.registerOp('FooLookup'`);
      let model: tf.GraphModel | null = null;
      const told = await warningsWhile(async () => {
        model = await load(nodes, {}, { signature: { outputs: { y: { name: 'y:0', dtype: 'DT_FLOAT' } } } });
      });
      expect(told.length).toBe(1);
      expect(told[0]).toContain(`FooLookup at "lost" (tf.registerOp('FooLookup'`);
      const feeds = { lost: tf.tensor1d([2]) };
      expect(execute(model!, feeds, 'z')).toEqual([[-2]]);
      expect(() => execute(model!, { x: tf.tensor1d([2]) }, 'z')).toThrowError(/Unknown op 'FooLookup'/);
      model!.dispose();
    });
  });

  it('loads a graph of its own ops whose outputs do not need an unknown one', async () => {
    const outputs = { y: { name: 'sums:0', dtype: 'DT_FLOAT' } };
    const nodes = [
      { name: 'x', op: 'Placeholder', attr: float32 },
      { name: 'ids', op: 'Placeholder', attr: int32 },
      { ...OURS, input: ['x', 'ids'], attr: float },
      { name: 'lost', op: 'FooLookup', input: ['x', '^sums'] },
    ];
    const [told] = await warningsWhile(async () => {
      const model = await load(nodes, {}, { signature: { outputs } });
      const feeds = { x: tf.tensor1d([2, 3]), ids: tf.tensor1d([0, 0], 'int32') };
      expect(execute(model, feeds, 'sums')).toEqual([[5]]);
      model.dispose();
    });
    expect(told).toContain('FooLookup at "lost"');
    const needed = { y: { name: 'lost:0', dtype: 'DT_FLOAT' } };
    expect((await refusal(nodes, {}, { userDefinedMetadata: { signature: { outputs: needed } } })).received).toContain(
      'lost',
    );
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

  it('numbers the outputs of stock ops in functions too', async () => {
    const argument = (name: string, type: string): object => ({ name, type });
    const body = {
      signature: {
        name: 'body',
        inputArg: [argument('x', 'DT_FLOAT'), argument('k', 'DT_INT32')],
        outputArg: [argument('out', 'DT_INT32'), argument('found', 'DT_FLOAT')],
      },
      nodeDef: [{ name: 'top', op: 'TopKV2', input: ['x', 'k'], attr: { T: { type: 'DT_FLOAT' } } }],
      ret: { out: 'top:indices:0', found: 'top:values:0' },
    };
    const branches = { then_branch: { func: { name: 'body' } }, else_branch: { func: { name: 'body' } } };
    const model = await load(
      [
        { name: 'cond', op: 'Placeholder', attr: { dtype: { type: 'DT_BOOL' } } },
        { name: 'x', op: 'Placeholder', attr: float32 },
        { name: 'k', op: 'Placeholder', attr: int32 },
        { name: 'if', op: 'StatelessIf', input: ['cond', 'x', 'k'], attr: branches },
      ],
      { library: { function: [body] } },
    );
    const feeds = { cond: tf.scalar(true), x: tf.tensor1d([5, 7, 6]), k: tf.scalar(2, 'int32') };
    const found = (await model.executeAsync(feeds, ['if:0', 'if:1'])) as tf.Tensor[];
    expect(found.map((each) => Array.from(each.dataSync()))).toEqual([
      [1, 2],
      [7, 6],
    ]);
    tf.dispose([feeds, found]);
    model.dispose();
  });
});
