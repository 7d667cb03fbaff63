/** Calls of layers in a file: arguments that say nothing, those that are taken, and those that are refused by name. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { leakFree } from '../../../layers/setup.js';

type Json = Record<string, unknown>;

const tensor = (name: string): Json => ({ class_name: '__keras_tensor__', config: { keras_history: [name, 0, 0] } });
const [X, Y] = [tensor('x'), tensor('y')];

interface Call {
  readonly args?: readonly unknown[];
  readonly kwargs?: Json;
}

/** One layer behind two inputs of ones and twos, as Keras 3 writes it. */
function fileOf(className: string, config: Json, { args = [X], kwargs = {} }: Call, dtype: string): tf.io.IOHandler {
  const input = (name: string): Json => ({
    class_name: 'InputLayer',
    name,
    config: { batch_shape: [null, 2], dtype, name },
  });
  const layer = {
    module: 'keras.layers',
    class_name: className,
    name: 'Named',
    config: { name: 'Named', ...config },
    inbound_nodes: [{ args, kwargs }],
  };
  const sum = {
    module: 'keras.layers',
    class_name: 'Add',
    name: 'sum',
    config: { name: 'sum' },
    inbound_nodes: [{ args: [[X, Y]], kwargs: {} }],
  };
  const ends = {
    input_layers: [
      ['x', 0, 0],
      ['y', 0, 0],
    ],
    output_layers: [
      ['Named', 0, 0],
      ['sum', 0, 0],
    ],
  };
  const layers = [input('x'), input('y'), layer, sum];
  return tf.io.fromMemory({
    modelTopology: { class_name: 'Functional', config: { name: 'model', layers, ...ends } },
  } as never);
}

/** What the first output is for rows of 1 and of 2. */
async function valuesOf(className: string, config: Json, call: Call, dtype = 'float32'): Promise<number[]> {
  const model = await emb.loadKerasModel(fileOf(className, config, call, dtype));
  const inputs = [1, 2].map((value) => tf.fill([1, 2], value, dtype as 'float32'));
  const outputs = model.predict(inputs) as tf.Tensor[];
  const values = [...outputs[0]!.dataSync()];
  tf.dispose([inputs, outputs]);
  model.dispose();
  return values;
}

async function refusal(className: string, config: Json, call: Call): Promise<string> {
  try {
    await valuesOf(className, config, call);
  } catch (error) {
    const { name, argument, received } = error as { name: string; argument: string; received: string };
    return `${name} ${argument} ${received}`;
  }
  return 'nothing was thrown';
}

describe('calls of layers in files of Keras', () => {
  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
  });

  it(
    'may have arguments that say nothing',
    leakFree(async () => {
      for (const nothing of [null, false, [null, null], { a: null, b: null }]) {
        for (const name of ['mask', 'training', 'extra']) {
          if (name === 'mask' && nothing !== null) continue;
          expect(await valuesOf('ReLU', {}, { kwargs: { [name]: nothing } })).toEqual([1, 1]);
        }
      }
    }),
  );

  it(
    'are refused where an argument says something that the layer does not take',
    leakFree(async () => {
      for (const [value, received] of [
      [1, '1'],
      [true, 'true'],
      [[], '[]'],
      [[null, 2], '[null, 2]'],
      [X, 'a tensor'],
      ['a', '"a"'],
    ] as const)
      expect(await refusal('ReLU', {}, { kwargs: { extra: value } })).toBe(`ValueError Named.inbound_nodes.extra ${received}`); // prettier-ignore
      expect(await refusal('ReLU', {}, { kwargs: { initial_state: X } })).toMatch(/^ValueError Named\.inbound_nodes\.initial_state a tensor/); // prettier-ignore
    }),
  );

  it(
    'are of tensors, as many as the layer takes',
    leakFree(async () => {
      expect(await refusal('ReLU', {}, { args: [1] })).toMatch(/^ValueError Named\.inbound_nodes 1$/);
      expect(await refusal('ReLU', {}, { args: [[X, 'y']] })).toMatch(/^ValueError Named\.inbound_nodes "y"$/);
      expect(await refusal('ReLU', {}, { args: [X, Y] })).toMatch(/^ValueError Named\.inbound_nodes 2$/);
      expect(await refusal('ReLU', {}, { args: [{ a: X }] })).toMatch(/^ValueError Named\.inbound_nodes an object$/);
      expect(await valuesOf('ReLU', {}, { args: [[X]] })).toEqual([1, 1]);
    }),
  );

  it(
    'are of lists or of arguments where layers merge',
    leakFree(async () => {
      for (const args of [[[X, Y]], [X, Y]]) {
        expect(await valuesOf('Add', {}, { args })).toEqual([3, 3]);
        expect(await valuesOf('Subtract', {}, { args })).toEqual([-1, -1]);
        expect(await valuesOf('Multiply', {}, { args })).toEqual([2, 2]);
        expect(await valuesOf('Concatenate', { axis: -1 }, { args })).toEqual([1, 1, 2, 2]);
      }
      expect(await valuesOf('Subtract', {}, { args: [[Y, X]] })).toEqual([1, 1]);
    }),
  );

  it(
    'give ids with their weights, by place or by name, or none',
    leakFree(async () => {
      const config = { input_dim: 3, output_dim: 1, embeddings_initializer: 'ones', combiner: 'sum' };
      const made = (call: Call): Promise<number[]> => valuesOf('EmbedReduce', config, call);
      expect(await made({})).toEqual([2]);
      expect(await made({ args: [X, null] })).toEqual([2]);
      expect(await made({ kwargs: { weights: null } })).toEqual([2]);
      expect(await made({ args: [X, Y] })).toEqual([4]);
      expect(await made({ kwargs: { weights: Y } })).toEqual([4]);
      expect(await refusal('EmbedReduce', config, { args: [X, Y, X] })).toBe('ValueError Named.inbound_nodes 3');
      expect(await refusal('EmbedReduce', config, { kwargs: { other: Y } })).toBe('ValueError Named.inbound_nodes.other a tensor'); // prettier-ignore
    }),
  );

  /** A model within a model, called on x and on what that gave; `first`: how the file counts the call of its own. */
  async function nested(
    first: { inner: number; outer: number },
    className: string,
    version: object,
  ): Promise<number[][]> {
    const of = (name: string, node = 0): Json => {
      return { class_name: '__keras_tensor__', config: { keras_history: [name, node, 0] } };
    };
    const input = (name: string): Json => {
      const config = { batch_shape: [null, 2], dtype: 'float32', name };
      return { module: 'keras.layers', class_name: 'InputLayer', name, config };
    };
    const called = (name: string, ...given: Json[]): Json => ({
      module: 'keras.layers',
      class_name: name === 'double' ? 'Rescaling' : name === 'inner' ? className : 'Add',
      name,
      inbound_nodes: given.map((each) => ({ args: [each], kwargs: {} })),
    });
    const double = { ...called('double', of('i')), config: { name: 'double', scale: 2, offset: 0 } };
    const own =
      className === 'Sequential'
        ? { name: 'inner', layers: [input('i'), { ...double, inbound_nodes: [] }] }
        : {
            name: 'inner',
            layers: [input('i'), double],
            input_layers: [['i', 0, 0]],
            output_layers: [['double', 0, 0]],
          };
    const inner = { ...called('inner', of('x'), of('inner', first.inner)), config: own };
    const config = {
      name: 'outer',
      layers: [input('x'), inner],
      input_layers: [['x', 0, 0]],
      output_layers: [0, 1].map((call) => ['inner', first.outer + call, 0]),
    };
    const topology = { class_name: 'Functional', config, ...version };
    const model = await emb.loadKerasModel(tf.io.fromMemory({ modelTopology: topology } as never));
    const x = tf.ones([1, 2]);
    const outputs = model.predict(x) as tf.Tensor[];
    const values = outputs.map((each) => [...each.dataSync()]);
    tf.dispose([x, outputs]);
    model.dispose();
    return values;
  }

  for (const [title, first, version] of [
    ['from 0 in Keras 3', { inner: 0, outer: 0 }, {}],
    ['from 1 in Keras 2', { inner: 1, outer: 1 }, { keras_version: '2.15.0' }],
    ['from 1 for outputs alone, in Keras 3', { inner: 0, outer: 1 }, {}],
  ] as const) {
    // Only functional models count outputs otherwise: there, both results of one file say which it is.
    for (const className of first.inner !== first.outer ? ['Functional'] : ['Functional', 'Sequential']) {
      it(
        `of models within models are counted ${title}: ${className}`,
        leakFree(async () => {
          expect(await nested(first, className, version)).toEqual([
            [2, 2],
            [4, 4],
          ]);
        }),
      );
    }
  }
});
