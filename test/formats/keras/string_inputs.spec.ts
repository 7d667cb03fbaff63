/** Models of Keras that take strings: a pipeline makes their inputs. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { expectClose, expectNoLeakAsync } from '../../helpers/tensors.js';
import { goldenPath } from './keras_cases.js';

interface StringCase {
  readonly file: string;
  readonly rows: Readonly<Record<string, unknown[]>>;
  /** Inputs that the pipeline does not make. */
  readonly numbers: readonly string[];
  readonly outputs: number[];
  readonly targets: { readonly shape: number[]; readonly values: number[] };
  readonly after: number[];
}

const { cases } = JSON.parse(readFileSync(goldenPath('keras_files/strings.json'), 'utf8')) as { cases: StringCase[] };
const TOLERANCE = 1e-5;

function inputsOf(model: tf.LayersModel, { rows, numbers }: StringCase): tf.NamedTensorMap {
  const strings = Object.fromEntries(Object.entries(rows).filter(([name]) => !numbers.includes(name)));
  const made = model.pipeline!.apply(strings) as tf.NamedTensorMap;
  return { ...made, ...Object.fromEntries(numbers.map((name) => [name, tf.tensor(rows[name] as number[][])])) };
}

function expectOutputs(model: tf.LayersModel, inputs: tf.NamedTensorMap, wanted: number[], what: string): void {
  const output = model.predict(inputs as never) as tf.Tensor;
  expectClose(Array.from(output.dataSync()), wanted, wanted.map(Math.abs), what, TOLERANCE);
  output.dispose();
}

describe('loadKerasModel of models that take strings', () => {
  const folder = mkdtempSync(join(tmpdir(), 'keras strings '));
  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  for (const golden of cases) {
    it(`predicts and trains as Keras does, saved and loaded too: ${golden.file}`, async () => {
      await expectNoLeakAsync(async () => {
        const model = await emb.loadKerasModel(goldenPath(`keras_files/${golden.file}`));
        const inputs = inputsOf(model, golden);
        expectOutputs(model, inputs, golden.outputs, golden.file);
        await model.save(`file://${folder}/${golden.file}`);
        const loaded = await emb.loadLayersModel(`file://${folder}/${golden.file}/model.json`);
        const again = inputsOf(loaded, golden);
        expectOutputs(loaded, again, golden.outputs, `${golden.file}, loaded`);
        const targets = tf.tensor(golden.targets.values, golden.targets.shape);
        const optimizer = emb.train.sgd({ learningRate: 0.05 });
        model.compile({ optimizer, loss: 'meanSquaredError' });
        await model.trainOnBatch(inputs, targets);
        expectOutputs(model, inputs, golden.after, `${golden.file}, after a step`);
        tf.dispose([Object.values(inputs), Object.values(again), targets]);
        optimizer.dispose();
        model.dispose();
        loaded.dispose();
      });
    });
  }

  it('names inputs by the layers that look strings up, and knows from which input they come', async () => {
    const model = await emb.loadKerasModel(goldenPath('keras_files/k3_strings.keras'));
    expect(model.inputNames).toEqual(['known', 'hashed', 'learned', 'words', 'counts', 'age']);
    const { columns } = model.pipeline!.getConfig() as { columns: Record<string, { column: string }> };
    expect(Object.keys(columns).sort()).toEqual([...model.inputNames].sort());
    expect(['known', 'words', 'counts'].map((name) => columns[name]!.column)).toEqual(['city', 'text', 'text']);
    expect(columns['age'] as unknown).toBe('float');
    // What Keras 3 reads takes ids.
    await emb.exportKeras(model, join(folder, 'out.keras'));
    const exported = await emb.loadKerasModel(join(folder, 'out.keras'));
    expect(exported.inputNames).toEqual(model.inputNames);
    expect(exported.pipeline).toBeNull();
    model.dispose();
    exported.dispose();
  });

  it('refuses models of classes of their own with the way by a SavedModel', async () => {
    const loading = emb.loadKerasModel(goldenPath('keras_files/k3_subclassed.keras'));
    await expectAsync(loading).toBeRejectedWithError(
      emb.ValueError,
      /a Own.*model\.export\('folder'\).*emb\.savedModel\.load/s,
    );
  });

  const stringInput = {
    class_name: 'InputLayer',
    name: 's',
    config: { name: 's', dtype: 'string', batch_shape: [null, 1] },
  };
  const node = [[['s', 0, 0, {}]]];
  const lookup = { name: 'l', vocabulary: ['a'] };
  const refusals: [string, object, object, RegExp][] = [
    ['rows of several strings', { batch_shape: [null, 3] }, lookup, /`l\.inputs`.*one string in each row/],
    [
      'vectors of one string without a batch axis',
      { batch_shape: [null] },
      { ...lookup, output_mode: 'multi_hot' },
      /`l\.inputs`.*multiHot/,
    ],
    ['lookups that give strings', {}, { ...lookup, invert: true }, /`l\.invert`.*no strings/],
    ['a vocabulary that is not there', {}, { name: 'l' }, /`l\.vocabulary`.*get_vocabulary/s],
    ['settings of Keras that are none here', {}, { ...lookup, sparse: true }, /sparse/],
  ];
  const modelOf = (input: object, config: object, class_name = 'StringLookup'): object => ({
    modelTopology: {
      class_name: 'Functional',
      keras_version: '3.15.0',
      config: {
        name: 'm',
        layers: [
          { ...stringInput, config: { ...stringInput.config, ...input } },
          { class_name, name: 'l', config, inbound_nodes: node },
        ],
        input_layers: [['s', 0, 0]],
        output_layers: [['l', 0, 0]],
      },
    },
  });
  const load = (artifacts: object): Promise<tf.LayersModel> => {
    return emb.loadKerasModel({ load: () => Promise.resolve(artifacts as tf.io.ModelArtifacts) });
  };
  for (const [what, input, config, text] of refusals) {
    it(`refuses ${what}`, async () => {
      await expectAsync(load(modelOf(input, config))).toBeRejectedWithError(emb.ValueError, text);
    });
  }

  it('refuses other layers that take strings', async () => {
    const loading = load(modelOf({}, { name: 'l', units: 1 }, 'Dense'));
    await expectAsync(loading).toBeRejectedWithError(
      emb.ValueError,
      /`l\.inbound_nodes`.*StringLookup, TextVectorization/,
    );
  });
});
