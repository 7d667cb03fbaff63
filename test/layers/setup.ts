/** What the layer specs share: a backend, artifacts in memory, and a count of tensors. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';

export interface Facts {
  readonly argument?: string;
  readonly expected?: string;
  readonly received?: string;
}

export async function useCpu(): Promise<void> {
  await emb.ready();
  await tf.setBackend('cpu');
}

/** A spec that must leave as many tensors as it found. */
export function leakFree(body: () => void | Promise<void>): () => Promise<void> {
  return async () => {
    const before = tf.memory().numTensors;
    await body();
    expect(tf.memory().numTensors).withContext('tensors left').toBe(before);
  };
}

/** What a model writes, as it would come back from a file. */
export async function artifactsOf(model: tf.LayersModel, config?: tf.io.SaveConfig): Promise<tf.io.ModelArtifacts> {
  let saved: tf.io.ModelArtifacts | undefined;
  const handler = tf.io.withSaveHandler(async (artifacts) => {
    saved = { ...artifacts, modelTopology: JSON.parse(JSON.stringify(artifacts.modelTopology)) as object };
    return { modelArtifactsInfo: { dateSaved: new Date(0), modelTopologyType: 'JSON' } };
  });
  await model.save(handler, config);
  return saved!;
}

export async function reload(artifacts: tf.io.ModelArtifacts): Promise<tf.LayersModel> {
  return tf.loadLayersModel(tf.io.fromMemory(artifacts));
}

export async function cloneOf(model: tf.LayersModel, config?: tf.io.SaveConfig): Promise<tf.LayersModel> {
  return reload(await artifactsOf(model, config));
}

/** Values of a tensor, which is disposed. */
export function take(tensor: unknown): number[] {
  const given = tensor as tf.Tensor;
  const values = Array.from(given.dataSync());
  given.dispose();
  return values;
}

export function ids(rows: number[][]): tf.Tensor2D {
  return tf.tensor2d(rows, [rows.length, rows[0]?.length ?? 0], 'int32');
}

/** A table whose row r is [r, r + 0.25, ...], exact in float32. */
export function ramp(rows: number, dim: number): Float32Array {
  return Float32Array.from({ length: rows * dim }, (_, i) => Math.floor(i / dim) + (i % dim) / 4);
}

/** The error that a function throws must have this class, argument and text; returns it. */
export function expectError(
  body: () => unknown,
  type: 'ValueError' | 'TypeError' | 'RuntimeError',
  argument: string,
  received?: string | RegExp,
): (Error & Facts) | undefined {
  let error: (Error & Facts) | undefined;
  try {
    body();
  } catch (thrown) {
    error = thrown as Error & Facts;
  }
  expect(error).withContext(`nothing thrown for ${argument}`).toBeDefined();
  if (error === undefined) return undefined;
  expect(error.name).withContext(error.message).toBe(type);
  if (type === 'TypeError') expect(error instanceof TypeError).toBeTrue();
  else expect(error instanceof emb[type]).toBeTrue();
  expect(error.argument).withContext(error.message).toBe(argument);
  for (const fact of [error.expected, error.received]) {
    expect(typeof fact === 'string' && fact !== '')
      .withContext(`${error.message} | ${String(fact)}`)
      .toBeTrue();
  }
  if (received !== undefined) expect(error.received).toMatch(received);
  return error;
}

/** Arrays of floats that differ by at most `tolerance` (1 + |b|). */
export function expectClose(a: ArrayLike<number>, b: ArrayLike<number>, tolerance = 1e-6): void {
  expect(a.length).toBe(b.length);
  for (let i = 0; i < b.length; i++) {
    const far = Math.abs(a[i]! - b[i]!) > tolerance * (1 + Math.abs(b[i]!)) || Number.isNaN(a[i]);
    if (far) {
      fail(`at ${i}: ${a[i]} is not ${b[i]}`);
      return;
    }
  }
}

export type Combiner = 'sum' | 'mean' | 'sqrtn';

/** An independent pooled lookup over rows of ids. */
export function pooled(
  table: Float32Array,
  dim: number,
  rows: number[][],
  combiner: Combiner,
  weights?: number[][],
): number[] {
  return rows.flatMap((row, r) => {
    const weight = row.map((_, i) => weights?.[r]?.[i] ?? 1);
    const total = weight.reduce((a, b) => a + b, 0);
    const squares = weight.reduce((a, b) => a + b * b, 0);
    const divisor = combiner === 'sum' ? 1 : combiner === 'mean' ? total : Math.sqrt(squares);
    return Array.from({ length: dim }, (_, column) => {
      const sum = row.reduce((all, id, i) => all + weight[i]! * table[id * dim + column]!, 0);
      return divisor === 0 ? 0 : sum / divisor;
    });
  });
}
