/** One drawn model: how it is exported, what it is fed, and what it predicts. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { Random } from '../../../helpers/random.js';
import { namesOf, plain, scramble, type PlainInput, type PlainTensor } from '../exports.js';
import type { Fed } from './draft.js';
import { drawModel } from './model.js';

export interface DrawnRun {
  readonly model: tf.LayersModel;
  readonly inputs: tf.Tensor[];
  readonly options: emb.SavedModelOptions;
  /** What a SavedModel takes, by name. */
  readonly named: Record<string, PlainInput>;
  /** Whether the loaded object is called with RaggedTensors. */
  readonly call: boolean;
  /** Whether its tables are packed: exports hold the float32 numbers that their rows are read as, rounded otherwise. */
  readonly isPacked: boolean;
  /** Whether Python needs Keras RS for it. */
  readonly isOwn: boolean;
  readonly predictions: readonly tf.Tensor[];
  dispose(): void;
}

/** The rows of padded values without their padding. */
function unpadded({ value }: Fed, ids: tf.Tensor, splitsType: string): { values: PlainTensor; rowSplits: PlainTensor } {
  const rows = ids.arraySync() as number[][];
  const all = value.arraySync() as number[][];
  const splits = [0];
  const values = rows.flatMap((row, i) => {
    const length = row.filter((id) => id >= 0).length;
    splits.push(splits.at(-1)! + length);
    return all[i]!.slice(0, length);
  });
  return {
    values: { dtype: value.dtype, shape: [values.length], values },
    rowSplits: { dtype: splitsType, shape: [splits.length], values: splits },
  };
}

/** Inputs as a signature takes them where ragged rows come unpadded. */
function fedInputs(
  model: tf.LayersModel,
  fed: readonly Fed[],
  ragged: emb.SavedModelOptions['ragged'],
  call: boolean,
): Record<string, PlainInput> {
  const names = namesOf(model.inputs);
  const given: Record<string, PlainInput> = {};
  fed.forEach((each, i) => {
    const name = names[i]!;
    if (each.form === 'dense' || ragged === undefined) {
      given[name] = plain(each.value);
      return;
    }
    const ids = each.form === 'raggedIds' ? each.value : fed[i - 1]!.value;
    const rows = unpadded(each, ids, ragged === 'composite' ? 'int64' : 'int32');
    if (call) given[name] = rows;
    else if (ragged === 'composite') [given[name], given[`${name}_1`]] = [rows.values, rows.rowSplits];
    else [given[`${name}_values`], given[`${name}_row_splits`]] = [rows.values, rows.rowSplits];
  });
  return given;
}

/** Whether a model has tables that can be quantized. */
function hasTables(text: string): boolean {
  return /TfjsEmbeddings>(Ragged|Distributed|ConcatOneHot)?Embedding/.test(text);
}

/** Draws a model and runs it here. */
export function drawRun(seed: number): DrawnRun {
  const { model: drawn, fed } = drawModel(seed);
  scramble(drawn, seed);
  const text = JSON.stringify(drawn.getConfig());
  const r = new Random(seed + 77_777);
  const [wantsPacked, hasOps, isRagged] = [r.chance(0.2), r.chance(0.3), r.chance(0.5)];
  const dtype = r.pick(['int8', 'float16'] as const);
  const isPacked = hasTables(text) && wantsPacked;
  const model = isPacked ? emb.quantize(drawn, { dtype }) : drawn;
  const canBeRagged = isRagged && fed.some(({ form }) => form !== 'dense');
  const ragged = canBeRagged ? r.pick(['components', 'composite'] as const) : undefined;
  const call = ragged === 'composite' && r.chance(0.5);
  const inputs = fed.map(({ value }) => value);
  const predictions = [model.predict(inputs)].flat();
  const models = model === drawn ? [model] : [drawn, model];
  return {
    model,
    inputs,
    options: { ...(ragged === undefined ? {} : { ragged }), ...(hasOps ? { customOps: true } : {}) },
    named: fedInputs(model, fed, ragged, call),
    call,
    isPacked,
    isOwn: text.includes('TfjsEmbeddings>'),
    predictions,
    dispose() {
      // tfjs forgets the weights of models in models.
      const weights = models.flatMap((each) => each.weights.map((weight) => weight.read() as tf.Tensor));
      for (const each of models) each.dispose();
      tf.dispose([inputs, predictions, weights]);
    },
  };
}
