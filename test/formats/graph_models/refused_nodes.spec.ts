import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { expectRejection } from '../../helpers/errors.js';
import { expectNoLeakAsync } from '../../helpers/tensors.js';
import { FLOAT, INT32, loadGraph, placeholder, text, type Node } from './small_graph.js';

const STRING = { type: 'DT_STRING' };

describe('graphs with odd nodes', () => {
  beforeAll(() => void emb.converter.registerOps());

  const loads = async (nodes: readonly Node[], topology: object = {}, extra: object = {}): Promise<void> => {
    (await loadGraph(nodes, topology, extra)).dispose();
  };
  /** Refused when the graph is loaded, with the name of the node. */
  const refuses = (received: string, nodes: readonly Node[], topology = {}, extra = {}): Promise<void> =>
    expectRejection(() => loads(nodes, topology, extra), 'ValueError', 'odd', received);

  const hash = (buckets: number, name = 'odd'): Node => {
    const attr = { num_buckets: { i: String(buckets) } };
    return { name, op: 'StringToHashBucketFast', input: ['x'], attr };
  };
  const X = placeholder('x', STRING);

  it('refuse hashes into more buckets than int32 numbers', async () => {
    await loads([X, hash(2 ** 31)]);
    await refuses(String(2 ** 31 + 1), [X, hash(2 ** 31 + 1)]);
    await refuses(String(2 ** 40), [X, hash(2 ** 40)]);
  });

  it('refuse them in functions and in the initializer, and where outputs need them alone', async () => {
    const signature = { name: 'f', inputArg: [{ name: 'x', ...STRING }], outputArg: [{ name: 'y', type: 'DT_INT64' }] };
    const library = { function: [{ signature, nodeDef: [hash(2 ** 32)], ret: { y: 'odd:output:0' } }] };
    const f = { func: { name: 'f' } };
    const branch = { name: 'if', op: 'StatelessIf', input: ['c', 'x'], attr: { then_branch: f, else_branch: f } };
    await refuses(String(2 ** 32), [placeholder('c', { type: 'DT_BOOL' }), X, branch], { library });
    const modelInitializer = { node: [X, hash(2 ** 32)], versions: { producer: 1, minConsumer: 1 } };
    await refuses(String(2 ** 32), [placeholder('y', FLOAT)], {}, { modelInitializer });
    const outputs = { out: { name: 'kept:0', dtype: 'DT_INT64', tensorShape: {} } };
    await loads([X, hash(2 ** 32), hash(7, 'kept')], {}, { signature: { outputs } });
  });

  const scatters: readonly [op: string, input: readonly string[]][] = [
    ['ScatterNd', ['indices', 'updates', 'shape']],
    ['TensorScatterUpdate', ['tensor', 'indices', 'updates']],
  ];
  for (const [op, input] of scatters) {
    it(`refuse ${op} that leaves indices out of range out`, async () => {
      const nodes = input.map((name) => placeholder(name, /indices|shape/.test(name) ? INT32 : FLOAT));
      const scatter = (attr: object): Node => ({ name: 'odd', op, input, attr: { T: FLOAT, ...attr } });
      for (const policy of ['', 'DEFAULT', 'ERROR'])
        await loads([...nodes, scatter({ bad_indices_policy: text(policy) })]);
      await loads([...nodes, scatter({})]);
      await refuses('IGNORE', [...nodes, scatter({ bad_indices_policy: text('IGNORE') })]);
      const bytes = { s: [...'IGNORE'].map((letter) => letter.charCodeAt(0)) };
      await refuses('IGNORE', [...nodes, scatter({ bad_indices_policy: bytes })]);
    });
  }

  it('refuse expressions that JavaScript reads otherwise than RE2', async () => {
    const replace = (pattern: string): Node => {
      const attr = { pattern: text(pattern), rewrite: text('_') };
      return { name: 'odd', op: 'StaticRegexReplace', input: ['x'], attr };
    };
    await loads([X, replace('[a-c]+')]);
    await expectRejection(() => loads([X, replace('(?i)a')]), 'ValueError', 'pattern', '(?i)a');
  });

  it('refuse complex numbers on a backend without them, when the graph is loaded', async () => {
    await import('@tensorflow/tfjs-backend-wasm');
    const graph = (): Promise<void> => loads([placeholder('x', FLOAT), { name: 'odd', op: 'RFFT', input: ['x', 'n'] }, placeholder('n', INT32)]); // prettier-ignore
    await tf.setBackend('cpu');
    await graph();
    await tf.setBackend('wasm');
    await expectRejection(graph, 'ValueError', 'odd', 'RFFT');
    await tf.setBackend('cpu');
  });

  it('refuse weights of dtypes that tfjs cannot read, and name them', async () => {
    const weight = { name: 'w', op: 'Const', attr: { dtype: FLOAT } };
    const weights = (dtype: string, bytes: number): object => ({
      weightSpecs: [{ name: 'w', shape: [1], dtype }],
      weightData: new ArrayBuffer(bytes),
    });
    for (const dtype of ['float16', 'uint8', 'int64']) {
      const loading = (): Promise<void> => loads([weight], {}, weights(dtype, 8));
      await expectRejection(loading, 'ValueError', 'weightSpecs', `${dtype} of "w"`);
    }
    await expectNoLeakAsync(async () => {
      await loads([weight], {}, weights('float32', 4));
      await loads([weight], {}, weights('bool', 1));
    });
  });
});
