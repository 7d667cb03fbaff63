/** Models that the converter of TensorFlow wrote, with inputs and what TensorFlow made of them. */
import * as tf from '@tensorflow/tfjs';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../helpers/project.js';

export const MODELS = join(ROOT, 'test', 'fixtures', 'graph_models');

export interface PlainTensor {
  readonly dtype: 'int32' | 'float32' | 'bool';
  readonly shape: number[];
  readonly values: number[];
}

export interface ModelCase {
  readonly name: string;
  readonly ops: readonly string[];
  readonly inputs: Readonly<Record<string, PlainTensor>>;
  readonly outputs: Readonly<Record<string, PlainTensor>>;
}

export function modelCases(): ModelCase[] {
  const names = readdirSync(MODELS, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return names.map(({ name }) => {
    const text = readFileSync(join(MODELS, name, 'case.json'), 'utf8');
    return { ...(JSON.parse(text) as Omit<ModelCase, 'name'>), name };
  });
}

/** Loads a model as a page does, from artifacts in memory. */
export function sourceOf(name: string): tf.io.IOHandler {
  const folder = join(MODELS, name);
  const json = JSON.parse(readFileSync(join(folder, 'model.json'), 'utf8')) as tf.io.ModelJSON;
  const files = json.weightsManifest.flatMap(({ paths }) => paths).map((path) => readFileSync(join(folder, path)));
  const weights = Buffer.concat(files);
  return {
    load: () =>
      tf.io.getModelArtifactsForJSON(json, (manifest) => {
        const specs = manifest.flatMap(({ weights: entries }) => entries);
        const bytes = weights.buffer.slice(weights.byteOffset, weights.byteOffset + weights.byteLength);
        return Promise.resolve([specs, bytes as ArrayBuffer]);
      }),
  };
}

const ASYNCHRONOUS: readonly string[] = [
  'Where',
  'While',
  'If',
  'StatelessWhile',
  'StatelessIf',
  'HashTableV2',
  'MutableHashTableV2',
  'LoopCond',
  'TensorListReserve',
];

/** The outputs of a model for its case, by name. */
export async function outputsOf(model: tf.GraphModel, { ops, inputs, outputs }: ModelCase): Promise<tf.Tensor[]> {
  const signature = model.modelSignature as { outputs?: Record<string, { name: string }> } | undefined;
  const feeds = Object.fromEntries(
    Object.entries(inputs).map(([name, { dtype, shape, values }]) => [
      inputName(model, name),
      tf.tensor(values, shape, dtype),
    ]),
  );
  const names = Object.keys(outputs).map((name) => signature?.outputs?.[name]?.name ?? name);
  // tfjs-converter runs `Where` only so, and warns where it is not needed.
  const isAsync = ops.some((op) => ASYNCHRONOUS.includes(op));
  const results = isAsync ? await model.executeAsync(feeds, names) : model.execute(feeds, names);
  tf.dispose(feeds);
  return Array.isArray(results) ? results : [results];
}

/** An input is called by its node, with or without the number of its output. */
function inputName(model: tf.GraphModel, name: string): string {
  return model.inputs.map((input) => input.name).find((known) => known.split(':')[0] === name) ?? name;
}
