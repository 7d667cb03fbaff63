/** What layers, models and their files do in tfjs, seen without this package. A probe gives true where the defect is there. */
import * as tf from '@tensorflow/tfjs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { hasNone, leftBy, throwsIn } from './watch.mjs';

const inputOf = (shape, more = {}) => tf.input({ shape, ...more });

/** Remembers what it is called with. */
class Listening extends tf.layers.Layer {
  static className = 'ListeningLayerWithANameThatIsTooLongForItsColumn';
  kwargs = [];
  supportsMasking = true;
  call(inputs, kwargs) {
    this.kwargs.push(kwargs);
    return tf.clone(Array.isArray(inputs) ? inputs[0] : inputs);
  }
}
tf.serialization.registerClass(Listening);

export default {
  shared_weights: () => {
    const [first, second] = ['a', 'b'].map((name) => tf.layers.dense({ units: 3, useBias: false, name }));
    const input = inputOf([3]);
    const hidden = first.apply(input);
    second.build([null, 3]);
    second.trainableWeights = first.trainableWeights;
    const model = tf.model({ inputs: input, outputs: second.apply(hidden) });
    return model.weights.length === 2 && model.weights[0] === model.weights[1];
  },
  shared_tables_on_load: async () => {
    const initializer = { class_name: 'Zeros', config: {}, shared_object_id: 7 };
    const dense = (name, more) => ({
      class_name: 'Dense',
      config: { name, units: 1, kernel_initializer: initializer, ...more },
    });
    const layers = [dense('a', { batch_input_shape: [null, 1] }), dense('b', {})];
    const model = await tf.models.modelFromJSON({
      modelTopology: { class_name: 'Sequential', config: { name: 'm', layers } },
    });
    return model.layers[0].kernelInitializer !== model.layers[1].kernelInitializer;
  },
  topology_cache: async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc');
    const used = () => {
      const input = inputOf([2]);
      const model = tf.model({ inputs: input, outputs: tf.layers.dense({ units: 1 }).apply(input) });
      tf.tidy(() => void model.predict(tf.ones([1, 2])));
      model.dispose();
      return new WeakRef(model.layers[1]);
    };
    const layer = used();
    await new Promise((resolve) => setTimeout(resolve, 20));
    collect();
    return layer.deref() !== undefined;
  },
  model_summary: () => {
    const input = inputOf([2]);
    const lines = [];
    tf.model({ inputs: input, outputs: new Listening({}).apply(input) }).summary(undefined, undefined, (line) =>
      lines.push(line),
    );
    return !lines.join('\n').includes(Listening.className);
  },
  layer_weights: () =>
    hasNone(tf.LayerVariable, /^(on|before|after|add|sub)[A-Z]/) && hasNone(tf.layers.Layer, /^on[A-Z]/),
  'layers/masks': () => {
    const [ids, numbers] = [inputOf([3], { dtype: 'int32' }), inputOf([3])];
    const masked = tf.layers.embedding({ inputDim: 4, outputDim: 2, maskZero: true }).apply(ids);
    const other = new Listening({});
    const outputs = [tf.layers.flatten().apply(new Listening({}).apply(masked)), other.apply(numbers)];
    tf.tidy(
      () => void tf.model({ inputs: [ids, numbers], outputs }).predict([tf.ones([2, 3], 'int32'), tf.ones([2, 3])]),
    );
    return other.kwargs.some((kwargs) => kwargs?.mask !== undefined && kwargs.mask !== null);
  },
  'layers/masks, lifetime': async () => {
    const layer = tf.layers.embedding({ inputDim: 4, outputDim: 2, maskZero: true });
    layer.build([null, 3]);
    const ids = tf.ones([2, 3], 'int32');
    return (await leftBy(() => layer.apply(ids).dispose())) > 0;
  },
  'layers/recurrent_states': () => {
    const [result, state] = tf.layers.simpleRNN({ units: 2, returnState: true }).apply(tf.ones([1, 3, 2]));
    return result === state;
  },
  'layers/recurrent_states, masks': () => {
    const layer = tf.layers.rnn({ cell: [tf.layers.lstmCell({ units: 2, dropout: 0.5 })] });
    const x = tf.ones([1, 3, 20]);
    layer.apply(x, { training: true });
    const [before] = layer.cell.cells[0].dropoutMask;
    layer.apply(x, { training: true });
    return layer.cell.cells[0].dropoutMask[0] === before;
  },
  'layers/penalties': () => {
    const kernelRegularizer = tf.regularizers.l2({ l2: 0.1 });
    const layer = tf.layers.dense({ units: 1, kernelRegularizer });
    layer.build([null, 2]);
    return layer._losses.length === 1 && Object.keys(layer._losses[0]).length === 0;
  },
  'layers/configs': () => {
    const conv = tf.layers.conv1d({ filters: 1, kernelSize: 1, dataFormat: 'channelsLast' }).getConfig();
    const separable = tf.layers.separableConv2d({ filters: 1, kernelSize: 1, depthMultiplier: 2 }).getConfig();
    return conv.dataFormat === undefined || separable.depthMultiplier === undefined;
  },
  loaded_weights: async () => {
    const model = tf.sequential({
      name: 'm',
      layers: [tf.layers.dense({ units: 2, inputShape: [3], name: 'narrow' })],
    });
    let saved;
    await model.save(tf.io.withSaveHandler(async (artifacts) => ((saved = artifacts), { modelArtifactsInfo: {} })));
    const weightSpecs = saved.weightSpecs.map((spec) => (spec.shape.length === 2 ? { ...spec, shape: [2, 3] } : spec));
    try {
      await tf.loadLayersModel(tf.io.fromMemory({ ...saved, weightSpecs }));
    } catch (error) {
      return !error.message.includes('narrow');
    }
    return true;
  },
  file_scheme: async () => {
    for (let i = 0; i < 2; i++)
      tf.io.registerSaveRouter((url) => (url === 'probe://a' ? { save: async () => ({}) } : null));
    const model = tf.sequential({ layers: [tf.layers.dense({ units: 1, inputShape: [1] })] });
    return model.save('probe://a').then(
      () => false,
      (error) => /more than one/i.test(error.message),
    );
  },
  stand_ins: () => {
    const model = tf.sequential({ layers: [tf.layers.dense({ units: 1, inputShape: [null] })].slice(0, 0) });
    model.add(tf.layers.embedding({ inputDim: 4, outputDim: 2, inputShape: [null] }));
    return throwsIn(() => model.predict({ values: tf.ones([4]), rowSplits: tf.tensor1d([0, 1, 4], 'int32') }));
  },
};
