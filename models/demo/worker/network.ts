/**
 * Two towers: what is known of a row becomes a vector by embeddings and a small network, the item has a vector of its own,
 * and their inner product is the score. A chance or a number is read off the score; without a label the items of a batch
 * compete for each row.
 */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import type { Feature, Schema, Settings } from '../protocol.js';
import type { Rows } from './rows.js';

const QUERY = 'query';
const BIAS = 'bias';
const ITEMS = 'items';
const HIDDEN = 32;
const TEMPERATURE = 0.1;
/** What a step takes off the rows that it touches, times the learning rate. */
const DECAY = 0.5;
const SEED = 11;
/** Under which a model keeps what it is asked for. */
const SCHEMA = 'tfjsEmbeddingsDemo';

const uniform = (seed: number) => tf.initializers.randomUniform({ minval: -0.05, maxval: 0.05, seed });

/** A column of the model. */
export const featureOf = ({ features }: Schema, column: string): Feature =>
  features.find(({ name }) => name === column)!;

/** Name of the layer whose table has a row for each value of a column. */
function tableName({ features, item }: Schema, column: string): string {
  return column === item ? ITEMS : `table_${features.findIndex(({ name }) => name === column)}`;
}

function lossOf({ task }: Schema): string | emb.losses.Loss {
  if (task === 'chance') return 'binaryCrossentropy';
  return task === 'number' ? 'meanSquaredError' : emb.losses.inBatchSoftmax({ temperature: TEMPERATURE });
}

/** Compiles a model anew; `optimizer`: that of a model that was loaded. */
export function compile(model: tf.LayersModel, schema: Schema, optimizer: tf.Optimizer): void {
  model.compile({ optimizer, loss: lossOf(schema) as never });
}

export function buildNetwork(
  { train, schema, sizes, pipeline }: Rows,
  { dim, learningRate }: Settings,
): tf.LayersModel {
  let seed = SEED;
  const inputs = train.inputs();
  const tableOf = ({ name, input, kind }: Feature): tf.SymbolicTensor => {
    const args = {
      name: tableName(schema, name),
      inputDim: sizes[input]!,
      outputDim: dim,
      embeddingsInitializer: uniform(seed++),
    };
    const layer =
      kind === 'list'
        ? emb.layers.raggedEmbedding({ ...args, combiner: 'mean' })
        : emb.layers.embedding({ ...args, combiner: 'sum' });
    return layer.apply(inputs[input]!) as tf.SymbolicTensor;
  };
  const dense = (units: number, name: string, activation: 'relu' | 'linear'): tf.layers.Layer =>
    tf.layers.dense({ units, name, activation, kernelInitializer: tf.initializers.glorotNormal({ seed: seed++ }) });
  const known = schema.features.filter(({ name }) => name !== schema.item);
  const vectors = known.map(tableOf);
  const joined = vectors.length === 1 ? vectors[0]! : tf.layers.concatenate().apply(vectors);
  const hidden = dense(HIDDEN, 'hidden', 'relu').apply(joined) as tf.SymbolicTensor;
  const query = dense(dim, QUERY, 'linear').apply(hidden) as tf.SymbolicTensor;
  const model = tf.model({
    inputs: Object.values(inputs),
    outputs: outputOf(schema, { hidden, query, item: tableOf(featureOf(schema, schema.item)) }),
  });
  model.setUserDefinedMetadata({ [SCHEMA]: schema });
  model.pipeline = pipeline;
  const decay = { weightDecay: DECAY, multiplyWeightDecayByLearningRate: true };
  compile(model, schema, emb.train.adam({ learningRate, lazy: true, ...decay }));
  return model;
}

interface Sides {
  readonly hidden: tf.SymbolicTensor;
  readonly query: tf.SymbolicTensor;
  readonly item: tf.SymbolicTensor;
}

function outputOf({ task }: Schema, { hidden, query, item }: Sides): tf.SymbolicTensor {
  if (task === 'choice') {
    const unit = emb.layers.unitNormalization();
    const sides = [query, item].map((side) => unit.apply(side) as tf.SymbolicTensor);
    return emb.layers.candidateScores({ candidates: 'batch' }).apply(sides);
  }
  // What is known moves all items of a row alike; what tells them apart is the product.
  const bias = tf.layers.dense({ units: 1, name: BIAS, kernelInitializer: 'zeros' }).apply(hidden);
  const product = tf.layers.dot({ axes: -1 }).apply([query, item]);
  const score = tf.layers.add().apply([product, bias] as tf.SymbolicTensor[]) as tf.SymbolicTensor;
  return task === 'chance'
    ? (tf.layers.activation({ activation: 'sigmoid' }).apply(score) as tf.SymbolicTensor)
    : score;
}

/** What a model is asked for, as it was saved with it. Throws for models from elsewhere. */
export function schemaOf(model: tf.LayersModel): Schema {
  const metadata = (model as unknown as { userDefinedMetadata?: Record<string, unknown> }).userDefinedMetadata;
  const schema = metadata?.[SCHEMA];
  if (schema === undefined || model.pipeline === null) throw new Error('This model was not downloaded from this page.');
  return schema as Schema;
}

const weightsOf = (model: tf.LayersModel, layer: string): tf.LayerVariable => model.getLayer(layer).weights[0]!;

/** What the model takes, by name. */
export type Features = Readonly<Record<string, tf.Tensor | emb.RaggedTensor>>;

export interface Best {
  readonly ids: readonly number[];
  readonly scores: readonly number[];
}

/** A trained network as it is asked: by rows of texts and numbers. */
export class Network {
  readonly #query: tf.LayersModel;

  constructor(
    readonly model: tf.LayersModel,
    readonly schema: Schema,
  ) {
    const { input: item } = featureOf(schema, schema.item);
    const inputs = model.inputs.filter(({ name }) => name !== item);
    const layers = schema.task === 'choice' ? [QUERY] : [QUERY, BIAS];
    const outputs = layers.map((name) => model.getLayer(name).output as tf.SymbolicTensor);
    this.#query = tf.model({ inputs, outputs });
  }

  /** The column that is recommended. */
  get item(): Feature {
    return featureOf(this.schema, this.schema.item);
  }

  /** Values of a column by their ids; the first stands for all that are not known. */
  names(column: string): readonly string[] {
    const { columns } = this.model.pipeline!.getConfig() as { columns: Record<string, object> };
    const saved = columns[featureOf(this.schema, column).input] as { type?: SavedType };
    const type = (saved.type ?? saved) as SavedType;
    const { className, config } = 'list' in type ? type.list : type;
    const lookup = emb.preprocessing[className as 'StringLookup'].fromConfig(config);
    return lookup.getVocabulary().map(String);
  }

  /** Rows of the table of a column, of length 1, [values, dim]. The caller disposes them. */
  unitRows(column: string): tf.Tensor2D {
    const rows = weightsOf(this.model, tableName(this.schema, column)).read();
    return tf.tidy(() => emb.layers.unitNormalization().apply(rows) as tf.Tensor2D);
  }

  /** The best items of each row: their ids, and the chances, numbers or cosines that the model gives them. */
  best(features: Features, count: number): Best[] {
    const known = this.#query.inputNames.map((name) => [name, features[name]!]);
    const outputs = this.#query.predict(Object.fromEntries(known) as never) as tf.Tensor | tf.Tensor[];
    const [query, bias = null] = Array.isArray(outputs) ? outputs : [outputs];
    const items = weightsOf(this.model, ITEMS).read() as tf.Tensor2D;
    const { task } = this.schema;
    const lists = tf.tidy(() => {
      const unit = emb.layers.unitNormalization();
      const sides = [query!, items].map((side) => (task === 'choice' ? unit.apply(side) : side)) as tf.Tensor2D[];
      // Row 0 stands for unknown values.
      const exclude = emb.RaggedTensor.fromRows(Array.from({ length: query!.shape[0]! }, () => [0]));
      const { values, indices } = emb.topK(sides[0]!, sides[1]!, count, { exclude });
      const scores = bias === null ? values : values.add(bias);
      return [indices, task === 'chance' ? scores.sigmoid() : scores].map((each) => each.arraySync() as number[][]);
    });
    tf.dispose(outputs);
    return lists[0]!.map((row, i) => {
      const ids = row.filter((id) => id >= 0);
      return { ids, scores: lists[1]![i]!.slice(0, ids.length) };
    });
  }

  dispose(): void {
    this.model.dispose();
  }
}

/** A column as the config of a pipeline has it. */
interface SavedObject {
  readonly className: string;
  readonly config: object;
}
type SavedType = SavedObject | { readonly list: SavedObject };
