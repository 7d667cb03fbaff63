// runner: python
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../../src/node.js';
import { PYTHON_TIMEOUT_MS, pythonWithKeras } from '../../../backends/tensorflow/python_tensorflow.js';
import { skipOrFail } from '../../../helpers/backends.js';

const SCRIPT = fileURLToPath(new URL('user_classes_keras.py', import.meta.url));

interface Written {
  readonly file: string;
  readonly name: string;
  readonly registered: boolean;
}

/** Ten times what Dense gives: such a class of Python has the name of Keras's own. */
class TenFold extends (tf.layers.dense({ units: 1 }).constructor as new (args: { units: number }) => tf.layers.Layer) {
  static className = 'TenFold';

  override call(inputs: tf.Tensor | tf.Tensor[], kwargs: object): tf.Tensor {
    return tf.tidy(() => (super.call(inputs, kwargs) as tf.Tensor).mul(10));
  }
}

class Sum extends tf.layers.Layer {
  static className = 'Sum';
  readonly config: Record<string, unknown>;

  constructor(config: Record<string, unknown>) {
    super(config as never);
    this.config = config;
  }
}

class Penalty extends tf.serialization.Serializable {
  static className = 'Penalty';

  constructor(readonly config: tf.serialization.ConfigDict) {
    super();
  }

  override getConfig(): tf.serialization.ConfigDict {
    return this.config;
  }
}

/** Has as many weights as its config says. */
class Many extends tf.layers.Layer {
  static className = 'Many';

  constructor(private readonly config: { count: number }) {
    super(config as never);
  }

  override build(): void {
    for (let i = 0; i < this.config.count; i++) this.addWeight(`weight_${i}`, [1], 'float32', tf.initializers.zeros());
    this.built = true;
  }
}

/** A model of one layer as files hold it, with weights of 1 unless they are told. */
function source(
  layer: object,
  weights: readonly { name: string; shape: number[] }[],
  values?: readonly number[],
): tf.io.IOHandler {
  const input = { module: 'keras.layers', class_name: 'InputLayer', config: { batch_shape: [null, 2], name: 'x' } };
  const layers = [
    { ...input, registered_name: null, name: 'x', inbound_nodes: [] },
    { ...layer, name: 'own', inbound_nodes: [{ args: [tensor('x')], kwargs: {} }] },
  ];
  const config = { name: 'model', layers, input_layers: [['x', 0, 0]], output_layers: [['own', 0, 0]] };
  const model = {
    module: 'keras.src.models.functional',
    class_name: 'Functional',
    registered_name: 'Functional',
    config,
  };
  const size = weights.reduce((sum, { shape }) => sum + tf.util.sizeFromShape(shape), 0);
  return tf.io.fromMemory({
    modelTopology: { keras_version: '3.15.1', model_config: model },
    weightSpecs: weights.map((each) => ({ ...each, dtype: 'float32' as const })),
    weightData: Float32Array.from(values ?? new Array<number>(size).fill(1)).buffer,
  });
}

function tensor(layer: string): object {
  const config = { shape: [null, 2], dtype: 'float32', keras_history: [layer, 0, 0] };
  return { class_name: '__keras_tensor__', config };
}

const DENSE = { config: { name: 'own', units: 1, use_bias: false, activation: 'linear' } };
const KERNEL = [{ name: 'own/kernel', shape: [2, 1] }];

describe('classes of users in files of Keras', () => {
  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
  });

  it(
    'are refused by name where they have the names of Keras, whichever Keras wrote them',
    async () => {
      const python = pythonWithKeras();
      if (typeof python === 'string') return skipOrFail(python);
      const folder = mkdtempSync(join(tmpdir(), 'classes '));
      const before = tf.memory().numTensors;
      const written = JSON.parse(python.run(SCRIPT, folder).trim().split('\n').at(-1)!) as Written[];
      expect(written.length).toBeGreaterThan(100);
      for (const { file, name, registered } of written) {
        const plain = name.split(' ').at(-1)!;
        // A registered class has its package, one of the program the name of the program's module.
        const told = name === 'relu' ? /relu/ : new RegExp(`${registered ? 'my' : '__main__'}>${plain}`);
        await expectAsync(emb.loadKerasModel(file)).withContext(file).toBeRejectedWithError(emb.ValueError, told);
      }
      expect(tf.memory().numTensors).toBe(before);
      rmSync(folder, { recursive: true });
    },
    PYTHON_TIMEOUT_MS,
  );

  const NAMES: readonly [string, object][] = [
    ['my>Dense', { module: null, class_name: 'Dense', registered_name: 'my>Dense' }],
    ['my>Dense', { class_name: 'my>Dense' }],
    ['__main__>Dense', { module: null, class_name: 'Dense', registered_name: 'Dense' }],
    ['Dense', { module: null, class_name: 'Dense', registered_name: 'Dense' }],
    ['tools.layers>Dense', { module: 'tools.layers', class_name: 'Dense', registered_name: 'Dense' }],
    // Neither module nor package: as Python does, the name alone counts.
    ['Dense', { class_name: 'Dense' }],
  ];
  for (const [name, identity] of NAMES) {
    it(`are made of the classes that are given as ${name}: ${JSON.stringify(identity)}`, async () => {
      const before = tf.memory().numTensors;
      const made = source({ ...identity, ...DENSE }, KERNEL);
      const model = await emb.loadKerasModel(made, { customObjects: { [name]: TenFold as never } });
      const x = tf.tensor2d([[1, 2]]);
      const y = model.predict(x) as tf.Tensor;
      expect(Array.from(y.dataSync())).toEqual([30]);
      tf.dispose([x, y]);
      model.dispose();
      expect(tf.memory().numTensors).toBe(before);
    });
  }

  it('do not take the place of classes that the file says are those of Keras', async () => {
    const stock = { module: 'keras.layers', class_name: 'Dense', registered_name: null, ...DENSE };
    const model = await emb.loadKerasModel(source(stock, KERNEL), { customObjects: { Dense: TenFold as never } });
    const x = tf.tensor2d([[1, 2]]);
    const y = model.predict(x) as tf.Tensor;
    expect(Array.from(y.dataSync())).toEqual([3]);
    tf.dispose([x, y]);
    model.dispose();
  });

  it('get the fields of the file in camel case, and their texts as they are', async () => {
    const config = { name: 'own', top_k: 3, mode: 'top_down', kernel_initializer: 'ones', trainable: false };
    const layer = { module: null, class_name: 'Sum', registered_name: 'my>Sum', config };
    const model = await emb.loadKerasModel(source(layer, []), { customObjects: { 'my>Sum': Sum as never } });
    const [, own] = model.layers as [unknown, Sum];
    expect(own.config).toEqual(jasmine.objectContaining({ name: 'own', topK: 3, mode: 'top_down', trainable: false }));
    expect(own.trainable).toBeFalse();
    model.dispose();
  });

  it('get their weights in the order of their numbers, in which files need not list them', async () => {
    const numbers = Array.from({ length: 12 }, (_, i) => i);
    const asTexts = [...numbers].sort((a, b) => (String(a) < String(b) ? -1 : 1));
    const weights = asTexts.map((i) => ({ name: `layers/many/vars/${i}`, shape: [1] }));
    const layer = { registered_name: 'my>Many', class_name: 'Many', config: { name: 'own', count: numbers.length } };
    const model = await emb.loadKerasModel(source(layer, weights, asTexts), {
      customObjects: { 'my>Many': Many as never },
    });
    expect(model.getWeights().map((weight) => weight.dataSync()[0])).toEqual(numbers);
    model.dispose();
  });

  it('are made within layers of Keras and as models', async () => {
    const penalty = { module: null, class_name: 'Penalty', registered_name: 'my>Penalty', config: { most_of: 2 } };
    const dense = { module: 'keras.layers', class_name: 'Dense', registered_name: null };
    const layer = { ...dense, config: { ...DENSE.config, kernel_regularizer: penalty } };
    await expectAsync(emb.loadKerasModel(source(layer, KERNEL))).toBeRejectedWithError(
      emb.ValueError,
      /own\.kernel_regularizer`: expected a class of Keras, or one of customObjects, received "my>Penalty"/,
    );
    const wrong = emb.loadKerasModel(source({ ...layer, ...penalty, inbound_nodes: [] }, []), {
      customObjects: { 'my>Penalty': Penalty as never },
    });
    await expectAsync(wrong).toBeRejectedWithError(emb.ValueError, /a class of layers in customObjects/);
  });

  it('must be classes', async () => {
    const made = source({ class_name: 'Dense', ...DENSE }, KERNEL);
    await expectAsync(emb.loadKerasModel(made, { customObjects: 3 as never })).toBeRejectedWithError(
      TypeError,
      /customObjects`: expected an object of classes by name, received 3/,
    );
    await expectAsync(emb.loadKerasModel(made, { customObjects: { a: {} as never } })).toBeRejectedWithError(
      TypeError,
      /customObjects\["a"\]`: expected a class/,
    );
  });
});
