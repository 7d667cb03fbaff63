/** Models that `draw_models.py` drew: whether they are loaded, predict and train as in Keras. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../../src/node.js';

interface Packed {
  readonly dtype: 'float32' | 'int32' | 'bool';
  readonly shape: number[];
  /** Bytes in base64. */
  readonly values: string;
}

/** A case as Python wrote it, or why there is none. */
export interface DrawnModel {
  readonly seed: number;
  readonly keras: 2 | 3;
  readonly skipped?: string;
  readonly file: string;
  /** The classes of its layers, and what else it was drawn with. */
  readonly layers: readonly string[];
  readonly inputs: readonly Packed[];
  readonly targets: readonly Packed[];
  readonly outputs: readonly Packed[];
  /** Why Keras does not train it. */
  readonly untrained?: string;
  readonly losses?: readonly number[];
  readonly after?: readonly Packed[];
}

/** What became of a case: refused by name, computed or trained otherwise, or ended by an error of another kind. */
export interface Outcome {
  readonly kind: 'equal' | 'refused' | 'wrong' | 'crash';
  readonly detail: string;
}

function unpack({ dtype, shape, values }: Packed): tf.Tensor {
  const bytes = Uint8Array.from(Buffer.from(values, 'base64'));
  if (dtype === 'bool') return tf.tensor(bytes, shape, 'bool');
  return tf.tensor(new (dtype === 'int32' ? Int32Array : Float32Array)(bytes.buffer), shape, dtype);
}

/** Where two lists of tensors differ by more than 1e-5 of their size; null where they do not. */
function difference(found: readonly tf.Tensor[], wanted: readonly Packed[]): string | null {
  if (found.length !== wanted.length) return `${found.length} outputs for ${wanted.length}`;
  for (const [i, packed] of wanted.entries()) {
    const expected = unpack(packed);
    const [a, b] = [Array.from(found[i]!.dataSync()), Array.from(expected.dataSync())];
    expected.dispose();
    if (!tf.util.arraysEqual(found[i]!.shape, packed.shape))
      return `output ${i}: shape [${found[i]!.shape.join()}] for [${packed.shape.join()}]`;
    const scale = b.reduce((most, value) => Math.max(most, Math.abs(value)), 1);
    const worst = a.reduce((most, value, at) => {
      const off = Math.abs(value - b[at]!);
      return Number.isNaN(off) ? Infinity : Math.max(most, off);
    }, 0);
    if (!(worst <= 1e-5 * scale)) return `output ${i}: off by ${worst.toExponential(1)} of ${scale.toPrecision(2)}`;
  }
  return null;
}

const BATCH = 4;

function messageOf(error: unknown): string {
  return String((error as Error).message)
    .split('\n')[0]!
    .slice(0, 300);
}

function single<T>(list: T[]): T | T[] {
  return list.length === 1 ? list[0]! : list;
}

/** Loads the model, predicts, trains an epoch and predicts again; what stays behind of it is an error too. */
export async function outcomeOf(drawn: DrawnModel): Promise<Outcome> {
  const before = tf.memory().numTensors;
  const outcome = await runOf(drawn);
  const left = tf.memory().numTensors - before;
  return left === 0 || outcome.kind === 'crash' ? outcome : { kind: 'crash', detail: `leaves ${left} tensors` };
}

async function runOf(drawn: DrawnModel): Promise<Outcome> {
  let model: tf.LayersModel;
  try {
    model = await emb.loadKerasModel(drawn.file);
  } catch (error) {
    const isNamed = error instanceof emb.ValueError && !/what TensorFlow\.js can build/.test(error.message);
    return { kind: isNamed ? 'refused' : 'crash', detail: `load: ${messageOf(error)}` };
  }
  const x = drawn.inputs.map(unpack);
  const y = drawn.targets.map(unpack);
  const optimizer = tf.train.sgd(0.05);
  let stage = 'predict';
  const predictions = (): tf.Tensor[] => [model.predict(single(x))].flat();
  try {
    const before = predictions();
    const wrong = difference(before, drawn.outputs);
    tf.dispose(before);
    if (wrong !== null) return { kind: 'wrong', detail: `predict: ${wrong}` };
    if (drawn.after === undefined) return { kind: 'equal', detail: 'not trained' };
    stage = 'fit';
    model.compile({ optimizer, loss: y.map(() => 'meanSquaredError') });
    const { history } = await model.fit(single(x), single(y), {
      batchSize: BATCH,
      epochs: 1,
      shuffle: false,
      verbose: 0,
    });
    const after = predictions();
    const otherwise = difference(after, drawn.after);
    tf.dispose(after);
    if (otherwise !== null) return { kind: 'wrong', detail: `fit: ${otherwise}` };
    const [loss, wanted] = [history['loss']![0] as number, drawn.losses![0]!];
    if (!(Math.abs(loss - wanted) <= 1e-5 * Math.max(1, Math.abs(wanted))))
      return { kind: 'wrong', detail: `loss: ${loss} for ${wanted}` };
    return { kind: 'equal', detail: '' };
  } catch (error) {
    return { kind: 'crash', detail: `${stage}: ${messageOf(error)}` };
  } finally {
    tf.dispose([x, y]);
    optimizer.dispose();
    model.dispose();
  }
}
