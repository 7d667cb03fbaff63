// runner: python
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { PYTHON_TIMEOUT_MS, pythonWithKeras } from '../../backends/tensorflow/python_tensorflow.js';
import { skipOrFail } from '../../helpers/backends.js';
import { expectClose } from '../../helpers/tensors.js';
import { OWN_CASES, PREPROCESSING_CASES, STOCK_CASES, type ExportCase } from './exported_models.js';

const SCRIPT = fileURLToPath(new URL('predict_keras.py', import.meta.url));

interface Result {
  readonly file: string;
  readonly error?: string;
  readonly outputs?: readonly { shape: number[]; values: number[] }[];
  readonly layers?: readonly [name: string, className: string][];
}

/** Values in [-1, 1), or ids of which some are absent; the same for each model. */
function inputsFor(model: tf.LayersModel): tf.Tensor[] {
  const hasAbsent = model.layers.some((layer) => layer instanceof emb.RaggedEmbedding);
  return model.inputs.map(({ shape, dtype }, number) => {
    const sizes = [4, ...(shape.slice(1) as number[])];
    const size = tf.util.sizeFromShape(sizes);
    const values = Array.from({ length: size }, (_, i) => {
      const draw = ((i * 7919 + number * 104729 + 13) % 1000) / 500 - 1;
      if (dtype !== 'int32') return draw;
      return hasAbsent && i % 3 === 1 ? -1 : (i * 5 + number) % 6;
    });
    return tf.tensor(values, sizes, dtype);
  });
}

/** Weights that are no zeros and no ones. */
function scramble(model: tf.LayersModel): void {
  for (const weight of model.weights) {
    if (weight.dtype === 'int32') continue; // a count
    const size = tf.util.sizeFromShape(weight.shape as number[]);
    const isVariance = weight.originalName.includes('variance');
    const values = Array.from({ length: size }, (_, i) => ((i * 37 + 11) % 64) / 64 + (isVariance ? 0.5 : -0.5));
    tf.tidy(() => void weight.write(tf.tensor(values, weight.shape as number[])));
  }
}

function isOurs(className: string): boolean {
  return className.startsWith('TfjsEmbeddings>');
}

function predict(model: tf.LayersModel, inputs: tf.Tensor[]): tf.Tensor[] {
  return [model.predict(inputs.length === 1 ? inputs[0]! : inputs)].flat();
}

describe('exportKeras', () => {
  let folder: string;
  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
    folder = mkdtempSync(join(tmpdir(), 'exports '));
    done.clear();
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const done = new Map<string, Promise<string>>();

  /** The file of a case, which is written once. */
  function exported({ name, make }: ExportCase): Promise<string> {
    const write = async (): Promise<string> => {
      const model = make();
      scramble(model);
      const file = join(folder, `${name}.keras`);
      await emb.exportKeras(model, file);
      model.dispose();
      return file;
    };
    done.set(name, done.get(name) ?? write());
    return done.get(name)!;
  }

  /** The model of a case with the weights that its file has, and inputs. */
  function original({ make }: ExportCase): { model: tf.LayersModel; inputs: tf.Tensor[] } {
    const model = make();
    scramble(model);
    return { model, inputs: inputsFor(model) };
  }

  it(
    'writes files that Keras loads, and with Keras RS those of our layers, with equal predictions',
    async () => {
      const python = pythonWithKeras();
      if (typeof python === 'string') return skipOrFail(python);
      const cases = [...STOCK_CASES, ...PREPROCESSING_CASES, ...OWN_CASES];
      const listed: { file: string; needs_keras_rs: boolean; inputs: object[] }[] = [];
      for (const each of cases) {
        const { model, inputs } = original(each);
        const given = inputs.map((tensor) => {
          return { shape: tensor.shape, dtype: tensor.dtype, values: Array.from(tensor.dataSync<'float32'>()) };
        });
        listed.push({ file: await exported(each), needs_keras_rs: each.needsKerasRs, inputs: given });
        tf.dispose(inputs);
        model.dispose();
      }
      const list = join(folder, 'cases.json');
      writeFileSync(list, JSON.stringify(listed));
      const results = JSON.parse(python.run(SCRIPT, list).trim().split('\n').at(-1)!) as Result[];
      for (const [i, each] of cases.entries()) {
        const { outputs, error } = results.find(({ file }) => file === listed[i]!.file)!;
        if (outputs === undefined) fail(`${each.name}: ${error}`);
        else expectPredictions(each, outputs);
      }
    },
    PYTHON_TIMEOUT_MS,
  );

  /** What the model computes here must be what was computed of its file elsewhere. */
  function expectPredictions(golden: ExportCase, outputs: NonNullable<Result['outputs']>): void {
    const { model, inputs } = original(golden);
    const own = predict(model, inputs);
    expect(outputs.map(({ shape }) => shape))
      .withContext(golden.name)
      .toEqual(own.map(({ shape }) => shape));
    own.forEach((each, j) => expectClose(each.dataSync(), outputs[j]!.values, 0, golden.name, 2e-6));
    tf.dispose([own, inputs]);
    model.dispose();
  }

  for (const each of [...STOCK_CASES, ...PREPROCESSING_CASES, ...OWN_CASES]) {
    it(`writes files that loadKerasModel loads: ${each.name}`, async () => {
      const again = await emb.loadKerasModel(await exported(each));
      const { model, inputs } = original(each);
      const classes = (of: tf.LayersModel): string[] => of.layers.map((layer) => layer.getClassName()).sort();
      if (each.needsKerasRs) expect(classes(again).filter(isOurs)).toEqual(classes(model).filter(isOurs));
      const results = predict(again, inputs);
      expectPredictions(
        each,
        results.map((result) => ({ shape: result.shape, values: Array.from(result.dataSync()) })),
      );
      tf.dispose([results, inputs]);
      again.dispose();
      model.dispose();
    });
  }

  it('replaces a file only when told so, and leaves nothing of a file that fails', async () => {
    const model = STOCK_CASES[0]!.make();
    const file = join(folder, 'kept.keras');
    await emb.exportKeras(model, file);
    const before = readFileSync(file);
    await expectAsync(emb.exportKeras(model, file)).toBeRejectedWithError(emb.ValueError, /which exists/);
    const cell = tf.layers.lstmCell({ units: 1 });
    const other = tf.sequential({ layers: [tf.layers.rnn({ cell, inputShape: [2, 2] })] });
    await expectAsync(emb.exportKeras(other, file, { overwrite: true })).toBeRejectedWithError(
      emb.ValueError,
      /received RNN/,
    );
    expect(readFileSync(file).equals(before)).toBeTrue();
    const stream = new WritableStream<Uint8Array>({
      write() {
        throw new Error('the disk is full');
      },
    });
    await expectAsync(emb.exportKeras(model, stream)).toBeRejected();
    expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
    await emb.exportKeras(model, file, { overwrite: true });
    expect(existsSync(file)).toBeTrue();
    model.dispose();
    other.dispose();
  });

  const refused: [string, () => tf.LayersModel, RegExp][] = [
    [
      'categoryEncoding of TensorFlow.js',
      () => chainOf(tf.layers.categoryEncoding({ numTokens: 3 })),
      /className`: expected a layer that can be written for Keras 3/,
    ],
    [
      'tpuEmbedding',
      () => {
        const table = new emb.tpu.TableConfig({ vocabularySize: 3, dim: 2 });
        const layer = emb.layers.tpuEmbedding({ featureConfig: new emb.tpu.FeatureConfig({ table }) });
        const ids = tf.input({ shape: [1], dtype: 'int32' });
        return tf.model({ inputs: ids, outputs: layer.apply(ids) as tf.SymbolicTensor });
      },
      /tpu_embedding.*expected a layer that can be written for Keras 3, received TPUEmbedding/,
    ],
    [
      'a name with a slash',
      () => chainOf(emb.layers.embedding({ inputDim: 3, outputDim: 2, name: 'tower/words' })),
      /tower\/words\.name`: expected a name without a slash/,
    ],
    [
      'an input that no output depends on',
      () => {
        const [used, unused] = [tf.input({ shape: [2] }), tf.input({ shape: [2], name: 'unused' })];
        const outputs = tf.layers.reLU().apply(used) as tf.SymbolicTensor;
        return tf.model({ inputs: [used, unused], outputs });
      },
      /unused\.inputs`: expected an input that outputs depend on/,
    ],
    ['maxNorm', () => chainOf(emb.layers.embedding({ inputDim: 3, outputDim: 2, maxNorm: 1 })), /maxNorm/],
    [
      'outOfRange',
      () => chainOf(emb.layers.embedding({ inputDim: 3, outputDim: 2, outOfRange: 'zero' })),
      /outOfRange/,
    ],
    [
      'ragged rows that stay apart',
      () => chainOf(emb.layers.raggedEmbedding({ inputDim: 3, outputDim: 2, name: 'apart' })),
      /apart\.combiner/,
    ],
    [
      'ragged features of many tables',
      () => distributed({ ragged: true }),
      /many\.embeddings\[1\]\.ids`: expected ids that all count, as in Keras RS, received ragged rows/,
    ],
    [
      'masked features of many tables',
      () => distributed({ maskZero: true }),
      /many\.embeddings\[1\]\.ids`: expected ids that all count, as in Keras RS, received maskZero/,
    ],
    [
      'features of many tables that are not combined',
      () => distributed({ combiner: null }),
      /many\.embeddings\[1\]\.combiner`: expected 'sum', 'mean' or 'sqrtn' for Keras RS, received null/,
    ],
    [
      'a shared table',
      () => chainOf(emb.layers.embedding({ table: emb.embeddingTable({ name: 'words', inputDim: 3, outputDim: 2 }) })),
      /\.table`: expected a table of its own/,
    ],
  ];
  for (const [what, make, message] of refused) {
    it(`refuses ${what} by name`, async () => {
      const model = make();
      await expectAsync(emb.exportKeras(model, join(folder, 'refused.keras'))).toBeRejectedWithError(
        emb.ValueError,
        message,
      );
      model.dispose();
    });
  }

  it('says what it takes', async () => {
    const model = STOCK_CASES[0]!.make();
    await expectAsync(emb.exportKeras({} as tf.LayersModel, 'x.keras')).toBeRejectedWithError(
      TypeError,
      /a tf.LayersModel/,
    );
    await expectAsync(emb.exportKeras(model, 'x.h5')).toBeRejectedWithError(emb.ValueError, /ends in .keras/);
    await expectAsync(emb.exportKeras(model, 3 as never)).toBeRejectedWithError(
      TypeError,
      /a path or a WritableStream/,
    );
    model.dispose();
  });
});

function chainOf(layer: tf.layers.Layer): tf.LayersModel {
  return tf.sequential({ layers: [tf.layers.inputLayer({ inputShape: [3], dtype: 'int32' }), layer] });
}

/** Two tables, of which the second is looked up in another way. */
function distributed(other: object): tf.LayersModel {
  const rule = { inputDim: 3, outputDim: 2, combiner: 'sum' };
  const embeddings = [rule, { ...rule, ...other }] as never;
  const layer = emb.layers.distributedEmbedding({ embeddings, output: 'structure', name: 'many' } as never);
  const inputs = [0, 1].map(() => tf.input({ shape: [3], dtype: 'int32' }));
  return tf.model({ inputs, outputs: layer.apply(inputs) as unknown as tf.SymbolicTensor[] });
}
