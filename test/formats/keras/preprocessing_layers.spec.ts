import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { expectNoLeakAsync } from '../../helpers/tensors.js';
import { expectSameAsKeras, fileCases } from './keras_cases.js';

type Json = Record<string, unknown>;

/** One layer behind one input, as Keras 3 writes it. */
function modelOf(className: string, config: Json, input: Json = {}, kwargs: Json = {}): tf.io.IOHandler {
  const tensor = { class_name: '__keras_tensor__', config: { keras_history: ['x', 0, 0] } };
  const given = Object.fromEntries(Object.keys(kwargs).map((key) => [key, tensor]));
  const layers = [
    { class_name: 'InputLayer', name: 'x', config: { batch_shape: [null, 3], dtype: 'int32', name: 'x', ...input } },
    { class_name: className, name: 'Named', config, inbound_nodes: [{ args: [tensor], kwargs: given }] },
  ];
  const ends = { input_layers: [['x', 0, 0]], output_layers: [['Named', 0, 0]] };
  const modelTopology = { class_name: 'Functional', config: { name: 'model', layers, ...ends } };
  return tf.io.fromMemory({ modelTopology });
}

async function errorOf(handler: tf.io.IOHandler): Promise<Error & { argument?: string }> {
  try {
    (await emb.loadKerasModel(handler)).dispose();
  } catch (error) {
    return error as Error;
  }
  throw new Error('the model loads');
}

async function saveAndLoad(model: tf.LayersModel): Promise<tf.LayersModel> {
  let saved: tf.io.ModelArtifacts | undefined;
  await model.save(
    tf.io.withSaveHandler(async (artifacts) => {
      saved = artifacts;
      return { modelArtifactsInfo: { dateSaved: new Date(0), modelTopologyType: 'JSON' } };
    }),
  );
  return emb.loadKerasModel(tf.io.fromMemory(saved!));
}

describe('Preprocessing layers of Keras', () => {
  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
  });

  for (const name of ['k3_adapted.keras', 'k3_preprocessing.keras', 'k3_lookups.keras', 'k3_normalized.h5']) {
    it(`predict the same once TensorFlow.js has saved and loaded them: ${name}`, async () => {
      await expectNoLeakAsync(async () => {
        const golden = fileCases().find((each) => each.name === name)!;
        const model = await emb.loadKerasModel(golden.path);
        const again = await saveAndLoad(model);
        expectSameAsKeras(again, golden);
        // It is called twice, and TensorFlow.js frees such a layer once.
        if (name === 'k3_adapted.keras') again.getLayer('found').dispose();
        again.dispose();
        model.dispose();
      });
    });
  }

  const bins = { bin_boundaries: [1, 2] };
  const words = { vocabulary: [3, 4] };
  const refused: [string, Json, string, RegExp, Json?, Json?][] = [
    ['StringLookup', { vocabulary: ['a'] }, 'class_name', /at the inputs of the whole model/],
    ['TextVectorization', {}, 'class_name', /at the inputs of the whole model/],
    ['Hashing', { num_bins: 3 }, 'inputs', /apply emb\.preprocessing\.Hashing first/, { dtype: 'string' }],
    ['Hashing', { num_bins: 3, output_mode: 'tf_idf' }, 'output_mode', /"count"/],
    ['IntegerLookup', { ...words, output_mode: 'count', mask_token: 3 }, 'maskToken', /null for outputMode count/],
    ['IntegerLookup', { ...words, output_mode: 'count', pad_to_max_tokens: true }, 'maxTokens', /a number where/],
    ['Hashing', { num_bins: 3, sparse: true }, 'sparse', /expected false/],
    ['Hashing', { num_bins: 0 }, 'numBins', /from 1 to/],
    ['Hashing', { num_bin: 3 }, 'num_bin', /one of .*num_bins/],
    ['IntegerLookup', { vocabulary: null }, 'vocabulary', /vocabulary=layer\.get_vocabulary\(\)/],
    ['IntegerLookup', {}, 'vocabulary', /given when the layer was made/],
    ['IntegerLookup', { ...words, output_mode: 'tf_idf' }, 'idfWeights', /2 numbers, one for each/],
    ['IntegerLookup', { ...words, output_mode: 'multi' }, 'output_mode', /"tf_idf"/],
    ['IntegerLookup', { ...words, invert: true }, 'invert', /expected false/],
    ['IntegerLookup', { ...words, oov_method: 'farmhash' }, 'oov_method', /"floormod"/],
    ['IntegerLookup', { vocabulary: [3, 3] }, 'vocabulary', /values that differ/],
    ['Discretization', { num_bins: 3, bin_boundaries: null }, 'bin_boundaries', /once the layer is adapted/],
    ['Discretization', { bin_boundaries: [2, 1] }, 'binBoundaries', /ascending/],
    ['Discretization', { ...bins, sparse: true }, 'sparse', /expected false/],
    ['Discretization', { ...bins, output_mode: 'tf_idf' }, 'outputMode', /one of int, oneHot/],
    ['Discretization', { ...bins, output_mode: 'count' }, 'inputs', /rank 3/, { batch_shape: [null, 2, 2] }],
    ['Discretization', { ...bins, dtype: 'float64' }, 'dtype', /float32/],
    ['CategoryEncoding', {}, 'numTokens', /positive whole number/],
    ['CategoryEncoding', { num_tokens: 3, sparse: true }, 'sparse', /expected false/],
    ['CategoryEncoding', { num_tokens: 3, output_mode: 'int' }, 'outputMode', /one of multiHot, oneHot, count/],
    ['CategoryEncoding', { num_tokens: 3 }, 'inputs', /\[batch, length\]/, { batch_shape: [null, 2, 2] }],
    [
      'CategoryEncoding',
      { num_tokens: 3, output_mode: 'count' },
      'inbound_nodes.count_weights',
      /calls the layer without it/,
      {},
      { count_weights: true },
    ],
    ['Normalization', { mean: [1, 2, 3] }, 'variance', /mean and variance, or neither/],
    ['Normalization', { mean: [1, 2], variance: [1, 2] }, 'mean', /3 numbers for axis 1/],
    ['Normalization', { mean: [1, 2], variance: [1, 2, 3] }, 'variance', /shape \[2\]/],
    ['Normalization', { axis: [0] }, 'axis', /known size/],
    ['Normalization', { axis: [2] }, 'axis', /rank 2/],
  ];
  for (const [className, config, field, message, input, kwargs] of refused) {
    it(`are refused with class, name and field: ${className} ${JSON.stringify(config)}`, async () => {
      await expectNoLeakAsync(async () => {
        const error = await errorOf(modelOf(className, config, input, kwargs));
        expect(error.name).toBe('ValueError');
        expect(error.argument).toBe(`Named.${field}`);
        expect(error.message).toMatch(message);
        expect(error.message).toContain(`The layer "Named" is a ${className}.`);
      });
    });
  }

  it('take what Keras 2 writes beside their settings', async () => {
    await expectNoLeakAsync(async () => {
      const lookup = {
        ...words,
        has_input_vocabulary: true,
        vocabulary_size: 3,
        vocabulary_dtype: 'int64',
        dtype: 'int64',
      };
      const model = await emb.loadKerasModel(modelOf('IntegerLookup', lookup));
      tf.tidy(() => {
        const ids = model.predict(tf.tensor2d([[4, 9, 3]], [1, 3], 'int32')) as tf.Tensor;
        expect(ids.dtype).toBe('int32');
        expect(ids.arraySync()).toEqual([[2, 0, 1]]);
      });
      model.dispose();
    });
  });

  it('say which number has no id where Keras fails too', async () => {
    const model = await emb.loadKerasModel(modelOf('IntegerLookup', { ...words, num_oov_indices: 0 }));
    const numbers = tf.tensor2d([[4, 9, 3]], [1, 3], 'int32');
    expect(() => model.predict(numbers)).toThrowError(/values of the vocabulary.*9 at position 1/);
    numbers.dispose();
    model.dispose();
  });

  it('warn about unknown fields where strict is false, and are still refused for what they cannot do', async () => {
    const warn = spyOn(console, 'warn');
    const model = await emb.loadKerasModel(modelOf('Hashing', { num_bins: 3, colour: 1 }), { strict: false });
    expect(warn.calls.allArgs().join()).toContain('Named.colour');
    model.dispose();
    const sparse = modelOf('Hashing', { num_bins: 3, sparse: true });
    await expectAsync(emb.loadKerasModel(sparse, { strict: false })).toBeRejectedWithError(/Named\.sparse/);
  });
});
