/** Operations, and calls of attention, as Keras writes them. */
import type * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { attentionCall, attentionEntry, operationEntry } from '../../../../src/formats/keras/export/operation_json.js';
import type { Operation } from '../../../../src/layers/operations/operation.js';

type Json = Record<string, unknown>;

type Four = [Json, Json, Json, Json];
const [X, Y, Z, M] = ['x', 'y', 'z', 'm'].map((tensor): Json => ({ tensor })) as Four;
const entry = (args: object, tensors: Json[] = [X]): Json =>
  operationEntry(emb.layers.operation({ name: 'here', ...args } as never) as unknown as Operation, tensors);
const argsOf = (written: Json): unknown => (written['inbound_nodes'] as Json[])[0]!['args'];

/** Where the classes lie in Keras 3. */
const MODULES: Readonly<Record<string, readonly string[]>> = {
  core: ['Cast', 'ConvertToTensor', 'StopGradient', 'Unstack'],
  math: ['Erf', 'Logsumexp', 'Rsqrt'],
  nn: [
    ...['Elu', 'Gelu', 'HardSigmoid', 'HardSilu', 'LeakyRelu', 'LogSigmoid', 'LogSoftmax', 'Normalize', 'OneHot'],
    ...['Relu', 'Relu6', 'Selu', 'Sigmoid', 'Silu', 'Softmax', 'Softplus', 'Softsign'],
  ],
  numpy: ['Absolute', 'Add', 'Concatenate', 'Cumsum', 'Exp', 'GetItem', 'Matmul', 'Sum', 'Tanh', 'Where', 'ZerosLike'],
};
/** Without which an operation is none. */
const SETTINGS: Readonly<Record<string, object>> = {
  Cast: { settings: { dtype: 'int32' } },
  OneHot: { settings: { numClasses: 3 } },
  GetItem: { operands: [{ tensor: 0 }, [1]] },
};

describe('operations for Keras', () => {
  for (const [module, names] of Object.entries(MODULES)) {
    for (const name of names) {
      it(`lie in their module: ${name}`, () => {
        const written = entry({ operation: name, ...SETTINGS[name] });
        expect([written['module'], written['class_name'], written['registered_name'], written['name']]).toEqual([
          `keras.src.ops.${module}`,
          name,
          name,
          'here',
        ]);
        expect((written['config'] as Json)['name']).toBe('here');
      });
    }
  }

  it('have their settings in the words of Keras', () => {
    expect(entry({ operation: 'OneHot', settings: { numClasses: 3, axis: 1 } })['config']).toEqual(
      jasmine.objectContaining({ name: 'here', num_classes: 3, axis: 1 }),
    );
  });

  it('have tensors in their places, in lists, beside numbers, constants and slices', () => {
    expect(argsOf(entry({ operation: 'Tanh' }))).toEqual([X]);
    expect(argsOf(entry({ operation: 'Subtract' }, [X, Y]))).toEqual([X, Y]);
    expect(argsOf(entry({ operation: 'Concatenate' }, [X, Y]))).toEqual([[X, Y]]);
    expect(argsOf(entry({ operation: 'Subtract', operands: [2, { tensor: 0 }] }))).toEqual([2, X]);
    const constant = { value: [1, 2], dtype: 'int32' };
    expect(argsOf(entry({ operation: 'Add', operands: [{ tensor: 0 }, constant] }))).toEqual([
      X,
      { class_name: '__tensor__', config: constant },
    ]);
    const items = [{ ellipsis: true }, { start: 1, stop: 3 }, { step: -1 }, {}, 2];
    const slice = (start: unknown, stop: unknown, step: unknown): Json => {
      return { class_name: '__slice__', config: { start, stop, step } };
    };
    expect(argsOf(entry({ operation: 'GetItem', operands: [{ tensor: 0 }, items] }))).toEqual([
      X,
      [
        { class_name: '__ellipsis__', config: {} },
        slice(1, 3, null),
        slice(null, null, -1),
        slice(null, null, null),
        2,
      ],
    ]);
  });

  it('are a layer where softmax goes along several axes', () => {
    const written = entry({ operation: 'Softmax', settings: { axis: [1, 2] } });
    expect(written).toEqual(
      jasmine.objectContaining({ module: 'keras.layers', class_name: 'Softmax', name: 'here', inbound_nodes: [{ args: [X], kwargs: {} }] }), // prettier-ignore
    );
    expect(written['config']).toEqual({ name: 'here', dtype: 'float32', axis: [1, 2] });
    expect(entry({ operation: 'Softmax', settings: { axis: 1 } })['module']).toBe('keras.src.ops.nn');
  });
});

describe('layers of attention for Keras', () => {
  const { attention, additiveAttention, multiHeadAttention, globalAveragePooling1d, unitNormalization } = emb.layers;
  const configOf = (layer: tf.layers.Layer): unknown => attentionEntry(layer)?.config;

  it('have the fields that Keras has', () => {
    const base = { trainable: true, dtype: 'float32' };
    expect(
      configOf(attention({ name: 'a', useScale: true, scoreMode: 'concat', dropout: 0.5, useCausalMask: true })),
    ).toEqual({ name: 'a', ...base, use_scale: true, score_mode: 'concat', dropout: 0.5 });
    expect(configOf(additiveAttention({ name: 'a', useScale: false, dropout: 0.25 }))).toEqual({
      name: 'a',
      ...base,
      use_scale: false,
      dropout: 0.25,
    });
    expect(configOf(globalAveragePooling1d({ name: 'a', keepdims: true }))).toEqual({
      name: 'a',
      ...base,
      data_format: 'channels_last',
      keepdims: true,
    });
    expect(configOf(unitNormalization({ name: 'a', axis: 1, trainable: false }))).toEqual(
      jasmine.objectContaining({ name: 'a', trainable: false }),
    );
    const many = configOf(multiHeadAttention({ name: 'a', numHeads: 2, keyDim: 3, useCausalMask: true })) as Json;
    expect(many).toEqual(jasmine.objectContaining({ name: 'a', num_heads: 2, key_dim: 3, use_bias: true }));
    for (const called of ['use_causal_mask', 'return_attention_scores', 'zeroes_masked'])
      expect(Object.keys(many)).not.toContain(called);
    expect(attentionEntry(emb.layers.operation({ operation: 'Tanh' }))).toBeNull();
  });

  it('have in their calls what Keras has there', () => {
    const call = (layer: tf.layers.Layer, tensors: Json[], masks: (Json | null)[] = []): unknown =>
      attentionCall(layer, tensors, masks);
    for (const make of [attention, additiveAttention]) {
      expect(call(make({}), [X, Y])).toEqual({ args: [[X, Y]], kwargs: {} });
      expect(call(make({}), [X, Y], [null, null])).toEqual({ args: [[X, Y]], kwargs: {} });
      expect(call(make({}), [X, Y], [null, M])).toEqual({ args: [[X, Y]], kwargs: { mask: [null, M] } });
      const causal = make({ useCausalMask: true, returnAttentionScores: true });
      const kwargs = { use_causal_mask: true, return_attention_scores: true };
      expect(call(causal, [X, Y])).toEqual({ args: [[X, Y]], kwargs });
    }
    const many = multiHeadAttention({ numHeads: 1, keyDim: 2 });
    expect(call(many, [X, Y])).toEqual({ args: [X, Y], kwargs: {} });
    expect(call(many, [X, Y, Z])).toEqual({ args: [X, Y, Z], kwargs: {} });
    expect(call(many, [X, Y, Z, M])).toEqual({ args: [X, Y, Z], kwargs: { attention_mask: M } });
    expect(call(many, [X, Y, Z], [M, null, null])).toEqual({ args: [X, Y, Z], kwargs: {} });
    expect(call(many, [X, Y, Z], [null, M, null])).toEqual({ args: [X, Y, Z], kwargs: { value_mask: M } });
    expect(call(many, [X, Y, Z], [null, null, M])).toEqual({ args: [X, Y, Z], kwargs: { key_mask: M } });
    expect(call(emb.layers.operation({ operation: 'Tanh' }), [X])).toBeNull();
  });
});
