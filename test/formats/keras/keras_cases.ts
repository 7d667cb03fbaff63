/** Models that Keras wrote, with inputs and what Keras computes from them. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import { expectClose } from '../../helpers/tensors.js';

interface Values {
  readonly dtype: tf.DataType;
  readonly shape: number[];
  readonly values: number[];
}

export interface KerasCase {
  readonly name: string;
  readonly path: string;
  readonly inputs: Readonly<Record<string, Values>>;
  readonly outputs: readonly Values[];
}

const GOLDENS = new URL('../../goldens/', import.meta.url);

export function goldenPath(name: string): string {
  return fileURLToPath(new URL(name, GOLDENS));
}

function readJson<T>(name: string): T {
  return JSON.parse(readFileSync(goldenPath(name), 'utf8')) as T;
}

/** Files of Keras 3 and of Keras 2, as `gen_keras3.py` and `gen_keras2.py` wrote them. */
export function fileCases(): KerasCase[] {
  return ['keras3', 'keras2'].flatMap((list) => {
    const { cases } = readJson<{ cases: (Omit<KerasCase, 'name' | 'path'> & { file: string })[] }>(
      `keras_files/${list}.json`,
    );
    return cases.map(({ file, ...rest }) => ({ ...rest, name: file, path: goldenPath(`keras_files/${file}`) }));
  });
}

/** What one step of an optimizer makes of a model, and the losses of that step and two more. */
interface Steps {
  readonly after: readonly Values[];
  readonly losses: readonly number[];
}

/** A model with attention or operations, and, where it is trained, how Keras trains it. */
export interface TrainedCase extends KerasCase {
  readonly targets?: readonly Values[];
  readonly steps?: Readonly<Record<'sgd' | 'adam', Steps>>;
}

/** Files that `gen_attention.py` and `gen_attention2.py` wrote. */
export function attentionCases(): TrainedCase[] {
  return ['attention', 'attention2'].flatMap((list) => {
    const { cases } = readJson<{ cases: (Omit<TrainedCase, 'name' | 'path'> & { file: string })[] }>(
      `keras_files/${list}.json`,
    );
    return cases.map(({ file, ...rest }) => ({ ...rest, name: file, path: goldenPath(`keras_files/${file}`) }));
  });
}

export function tensorsOf(values: readonly Values[]): tf.Tensor[] {
  return values.map(({ values: given, shape, dtype }) => tf.tensor(given, shape, dtype));
}

/** Layers models that the converter of TensorFlow.js made of some of these. */
export function convertedCases(): KerasCase[] {
  const files = fileCases();
  const own = ['k3_sequential_h5', 'k3_nested_keras', 'k2_nested_h5'].map((name) => {
    const { inputs, outputs } = files.find((each) => each.name.replace('.', '_') === name)!;
    return { name, path: goldenPath(`keras_files/converted/${name}/model.json`), inputs, outputs };
  });
  const models = [
    'keras_rs_distributed_embedding',
    'keras_rs_embed_reduce_mean',
    'nvidia_embedding_none',
    'nvidia_embedding_sum',
  ];
  const given = models.map((name) => {
    const { inputs, outputs } = readJson<{ inputs: KerasCase['inputs']; outputs: Record<string, Values> }>(
      `keras_models/${name}/case.json`,
    );
    return { name, path: goldenPath(`keras_models/${name}/model.json`), inputs, outputs: Object.values(outputs) };
  });
  return [...given, ...own];
}

/** The inputs of a case by the names of the model's inputs; a single one has any name. */
export function inputsOf(model: tf.LayersModel, { inputs }: KerasCase): Record<string, tf.Tensor> {
  const entries = Object.entries(inputs);
  return Object.fromEntries(
    entries.map(([name, { values, shape, dtype }]) => {
      return [entries.length === 1 ? model.inputNames[0]! : name, tf.tensor(values, shape, dtype)];
    }),
  );
}

/** What the model computes must be what Keras computed, to 1e-6. */
export function expectSameAsKeras(model: tf.LayersModel, golden: KerasCase): void {
  tf.tidy(() => {
    const results = [model.predict(inputsOf(model, golden) as never)].flat();
    expect(results.map(({ shape }) => shape)).toEqual(golden.outputs.map(({ shape }) => shape));
    results.forEach((result, i) => expectClose(result.dataSync(), golden.outputs[i]!.values, 0, golden.name));
  });
}
