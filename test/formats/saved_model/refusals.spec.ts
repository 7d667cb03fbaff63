import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { VocabularyLayer } from '../../../src/layers/preprocessing/vocabulary_layer.js';
import { expectRejection } from '../../helpers/errors.js';

class Doubled extends tf.layers.Layer {
  static readonly className = 'SavedModelSpecDoubled';
  override call(inputs: tf.Tensor | tf.Tensor[]): tf.Tensor {
    return tf.mul(Array.isArray(inputs) ? inputs[0]! : inputs, 2);
  }
}

/** A cell whose code is its author's. */
class OwnCell extends tf.layers.RNNCell {
  static readonly className = 'SavedModelSpecCell';
  readonly stateSize = 2;
  override call(inputs: tf.Tensor | tf.Tensor[]): tf.Tensor[] {
    const [x] = inputs as [tf.Tensor];
    return [x, x];
  }
}

function stacked(shape: (number | null)[], ...layers: tf.layers.Layer[]): tf.LayersModel {
  const input = tf.input({ shape });
  const outputs = layers.reduce<tf.SymbolicTensor>((x, layer) => layer.apply(x) as tf.SymbolicTensor, input);
  return tf.model({ inputs: input, outputs });
}

/** What is written where nothing may be. */
const nowhere: emb.SavedModelWriter = {
  write: (path) => fail(`${path} was written`),
};

function refused(model: tf.LayersModel, received: string | RegExp): Promise<void> {
  const before = tf.memory().numTensors;
  return expectRejection(() => emb.savedModel.export(model, nowhere), 'ValueError', 'model', received).then(() => {
    expect(tf.memory().numTensors).toBe(before);
    model.dispose();
  });
}

describe('savedModel.export refuses', () => {
  let tensors = 0;

  beforeEach(async () => {
    await tf.setBackend('cpu');
    tensors = tf.memory().numTensors;
  });

  afterEach(() => expect(tf.memory().numTensors).toBe(tensors));

  it('layers of classes that nobody knows, by name, also in models and wrappers', async () => {
    const layer = (): tf.layers.Layer => new Doubled({ name: 'mine' });
    await refused(stacked([2], layer()), /layer mine \(SavedModelSpecDoubled\)/);
    const inner = tf.sequential({ layers: [new Doubled({ name: 'mine', inputShape: [2] } as never)] });
    await refused(stacked([2], inner), 'layer mine');
    await refused(stacked([3, 2], tf.layers.timeDistributed({ layer: layer() })), 'layer mine');
  });

  it('cells of other classes, and recurrent layers with a state of their own', async () => {
    const cell = new OwnCell({ name: 'mine' } as never);
    await refused(stacked([3, 2], tf.layers.rnn({ cell, name: 'loop' })), /layer loop .*SavedModelSpecCell/);
    const input = tf.input({ batchShape: [2, 3, 2] });
    const outputs = tf.layers.gru({ units: 2, stateful: true, name: 'loop' }).apply(input) as tf.SymbolicTensor;
    const model = tf.model({ inputs: input, outputs });
    const states = (model.layers[1] as unknown as { states: tf.Tensor[] }).states;
    await refused(model, /layer loop .*stateful/);
    tf.dispose(states);
  });

  it('operations and attention that it does not write, by what they want', async () => {
    const operation = (args: emb.OperationArgs): tf.layers.Layer => emb.layers.operation({ name: 'here', ...args });
    for (const [args, received] of [
      [{ operation: 'GetItem', operands: [{ tensor: 0 }, [{}, { step: 2 }]] }, 'slices have steps'],
      [{ operation: 'GetItem', operands: [{ tensor: 0 }, [{}, { step: -1 }]] }, 'slices have steps'],
      [{ operation: 'Cumsum' }, 'sums up along no axis'],
      [{ operation: 'Softmax', settings: { axis: 1 } }, 'axis is not the last one'],
      [{ operation: 'Softmax', settings: { axis: [1, 2] } }, 'axis is not the last one'],
      [{ operation: 'Flip' }, 'operation Flip is not written as ops yet'],
    ] as const)
      await refused(stacked([3, 4], operation(args as emb.OperationArgs)), new RegExp(`layer here .*${received}`));
    const heads = emb.layers.multiHeadAttention({ numHeads: 1, keyDim: 2, attentionAxes: [1, 2], name: 'here' });
    const input = tf.input({ shape: [3, 4, 2] });
    const outputs = heads.apply([input, input]) as tf.SymbolicTensor;
    await refused(tf.model({ inputs: input, outputs }), /layer here .*attention goes over several axes/);
  });

  it('layers that draw at random in predict too', async () => {
    const layer = tf.layers.randomWidth({ factor: 0.5, name: 'wider' } as never) as tf.layers.Layer;
    const input = tf.input({ shape: [4, 4, 1] });
    const padded = tf.layers.zeroPadding2d().apply(input) as tf.SymbolicTensor;
    const model = tf.model({ inputs: input, outputs: layer.apply(padded) as tf.SymbolicTensor });
    await refused(model, /layer wider \(RandomWidth\)/);
  });

  it('lookups for which unknown numbers are errors', async () => {
    const layer = new VocabularyLayer({ vocabulary: [1, 2], numOovIndices: 0, name: 'strict' });
    await refused(stacked([2], layer), /layer strict .*numOovIndices 0/);
  });

  it('what is no layers model, unknown options, and names of no layer', async () => {
    const { savedModel } = emb;
    await expectRejection(() => savedModel.export({} as never, nowhere), 'TypeError', 'model');
    const model = stacked([2], tf.layers.dense({ units: 1, name: 'score' }));
    await expectRejection(() => savedModel.export(model, 7 as never), 'TypeError', 'directory', '7');
    await expectRejection(
      () => savedModel.export(model, nowhere, { overwite: true } as never),
      'ValueError',
      'overwite',
    );
    await expectRejection(() => savedModel.export(model, nowhere, { ragged: 'rows' as never }), 'ValueError', 'ragged');
    await expectRejection(() => savedModel.export(model, nowhere, { customOps: 1 as never }), 'TypeError', 'customOps');
    const outputs = (layer: string, alias = 'out'): emb.SavedModelOptions => {
      return { signatures: { more: { outputs: { [alias]: layer } } } };
    };
    await expectRejection(
      () => savedModel.export(model, nowhere, outputs('scor')),
      'ValueError',
      'signatures.more.outputs',
      'scor',
    );
    await expectRejection(
      () => savedModel.export(model, nowhere, outputs('score', 'a-b')),
      'ValueError',
      'signatures.more.outputs',
      'a-b',
    );
    const inputs = { signatures: { more: { inputs: { x: 'score' } } } };
    await expectRejection(
      () => savedModel.export(model, nowhere, inputs),
      'ValueError',
      'signatures.more.inputs',
      'score',
    );
    model.dispose();
  });
});
