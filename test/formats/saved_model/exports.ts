/** Models that are exported and then run elsewhere: in Python's TensorFlow, once for all of them, and in tfjs-node. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import type { Python, RunningScript } from '../../backends/tensorflow/python_tensorflow.js';

const SCRIPT = fileURLToPath(new URL('./run_exports.py', import.meta.url));

interface Spec {
  readonly dtype: string;
  readonly shape: (number | null)[];
}

/** What Python says of one export. */
export interface PythonResult {
  readonly outputs: Record<string, number[]>;
  readonly shapes: Record<string, number[]>;
  readonly inputSpecs: Record<string, Spec>;
  readonly outputSpecs: Record<string, Spec>;
  readonly variables: [name: string, shape: number[], dtype: string][];
  readonly trainable: string[];
  readonly error?: string;
}

export interface PlainTensor {
  readonly dtype: string;
  readonly shape: number[];
  readonly values: number[];
}

export type PlainInput = PlainTensor | { readonly values: PlainTensor; readonly rowSplits: PlainTensor };

interface Case {
  readonly directory: string;
  readonly signature: string;
  readonly inputs: Record<string, PlainInput>;
  /** Whether the loaded object itself is called, in place of a signature. */
  readonly call: boolean;
  /** Whether a TFSMLayer of Keras calls the signature, with the tensor of its only input. */
  readonly keras: boolean;
}

export function plain(tensor: tf.Tensor): PlainTensor {
  return { dtype: tensor.dtype, shape: tensor.shape, values: Array.from(tensor.dataSync()) };
}

/** Random but fixed numbers as weights, so that zeros hide nothing. */
export function scramble(model: tf.LayersModel, seed = 7): void {
  tf.tidy(() => {
    model.weights.forEach((weight, i) => {
      const value = weight.read();
      if (value.dtype !== 'float32') return;
      const isVariance = weight.originalName.endsWith('variance');
      const random = tf.randomUniform(value.shape, isVariance ? 0.5 : -1, 1, 'float32', seed + i);
      weight.write(random);
    });
  });
}

/** A model of layers of this package. */
export interface OwnModel {
  readonly model: tf.LayersModel;
  /** What `predict` takes. */
  readonly inputs: tf.Tensor[];
  /** What the signature takes, where that is something else, by name. */
  readonly fed?: Record<string, PlainInput>;
  readonly options?: emb.SavedModelOptions;
  /** Whether the loaded object is called. */
  readonly call?: boolean;
}

export class Exports {
  readonly folder = mkdtempSync(join(tmpdir(), 'exports-'));
  readonly #cases = new Map<string, Case>();
  #results = new Map<string, PythonResult>();
  #script: RunningScript | null = null;

  directory(name: string): string {
    return join(this.folder, name);
  }

  /** Exports a model under a name; `inputs`: what Python is to run it on, by the names of the signature. */
  async add(
    name: string,
    model: tf.LayersModel,
    inputs: Record<string, tf.Tensor | PlainInput>,
    options: emb.SavedModelOptions = {},
    { signature = 'serving_default', call = false, keras = false } = {},
  ): Promise<void> {
    const directory = this.directory(name);
    await emb.savedModel.export(model, directory, options);
    const given = Object.entries(inputs).map(([key, value]): [string, PlainInput] => {
      return [key, value instanceof tf.Tensor ? plain(value) : value];
    });
    const one = { directory, signature, inputs: Object.fromEntries(given), call, keras };
    this.#cases.set(name, one);
    this.#script?.write(JSON.stringify(one));
  }

  /** Has Python run each export that is added from now on, while the next is made. `library`: of custom ops. */
  start(python: Python, library = ''): void {
    this.#script = python.start(SCRIPT, '-', library);
  }

  /** Waits for what was started. */
  async finish(): Promise<void> {
    this.#take(await this.#script!.end());
  }

  /** Python runs all of them. `library`: of custom ops. */
  run(python: Python, library = ''): void {
    const file = join(this.folder, 'cases.json');
    writeFileSync(file, [...this.#cases.values()].map((each) => JSON.stringify(each)).join('\n'));
    this.#take(python.run(SCRIPT, file, library));
  }

  #take(printed: string): void {
    const lines = printed.trim().split('\n');
    const results = parsePython(lines.at(-1)!) as PythonResult[];
    this.#results = new Map([...this.#cases.keys()].map((name, i) => [name, results[i]!]));
  }

  result(name: string): PythonResult {
    const found = this.#results.get(name);
    if (found === undefined) throw new Error(`Python was not asked for ${name}`);
    return found;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** JSON of Python, which writes NaN and Infinity as words; here they are null, which equals no number. */
export function parsePython(text: string): unknown {
  return JSON.parse(text.replace(/(?<=[[ ,:])-?(NaN|Infinity)(?=[\],}])/g, 'null'));
}

/** The largest |a - b| / (1 + |b|). */
export function largestDifference(a: readonly number[], b: readonly number[]): number {
  if (a.length !== b.length) return Infinity;
  return a.reduce((most, value, i) => {
    const difference = Math.abs(value - b[i]!) / (1 + Math.abs(b[i]!));
    return Number.isNaN(difference) ? Infinity : Math.max(most, difference);
  }, 0);
}

/** What a signature calls the inputs or outputs of a model: by their layers, in letters, digits and `_`. */
export function namesOf(symbolic: readonly tf.SymbolicTensor[]): string[] {
  const names = symbolic.map((each) => (each as unknown as { sourceLayer: tf.layers.Layer }).sourceLayer.name);
  const plain = names.map((name) => name.replace(/\W/g, '_'));
  return plain.map((name, i) => {
    const before = plain.slice(0, i).filter((other) => other === name).length;
    return before === 0 ? name : `${name}_${before}`;
  });
}

/** The values of tensors by name. */
export function valuesByName(names: readonly string[], tensors: readonly tf.Tensor[]): Record<string, number[]> {
  return Object.fromEntries(tensors.map((tensor, i) => [names[i]!, Array.from(tensor.dataSync())]));
}

/** The folder of an export, by the title of its spec. */
export function folderName(title: string): string {
  return title.replace(/\W+/g, '_');
}

/** Expects of an export that Python's outputs are those of the model: |a - b| / (1 + |b|) at most `tolerance`. */
export function expectSameOutputs(
  { outputs, error }: PythonResult,
  values: Readonly<Record<string, number[]>>,
  tolerance: number,
): void {
  expect(error).toBeUndefined();
  const names = Object.keys(values);
  expect(Object.keys(outputs ?? {}).sort()).toEqual(names.sort());
  for (const name of names) {
    const difference = largestDifference(outputs[name] ?? [], values[name]!);
    expect(difference).withContext(name).toBeLessThanOrEqual(tolerance);
  }
}
