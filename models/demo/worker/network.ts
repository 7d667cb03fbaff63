/**
 * Two towers: what is known of a row becomes a vector by embeddings and a small network, the item has a vector of its own,
 * and their inner product is the score. A chance or a number is read off the score; without a label the items of a batch
 * compete for each row.
 */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import type { Schema, Settings } from '../protocol.js';
import type { Rows } from './rows.js';

const QUERY = 'query';
const ITEMS = 'items';
const HIDDEN = 32;
const TEMPERATURE = 0.1;
/** What a step takes off the rows that it touches, times the learning rate. */
const DECAY = 0.5;
const SEED = 11;
/** Under which a model keeps what it is asked for. */
const SCHEMA = 'tfjsEmbeddingsDemo';

const uniform = (seed: number) => tf.initializers.randomUniform({ minval: -0.05, maxval: 0.05, seed });

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
  const tableOf = (name: string, isList: boolean): tf.SymbolicTensor => {
    const args = {
      name: tableName(schema, name),
      inputDim: sizes[name]!,
      outputDim: dim,
      embeddingsInitializer: uniform(seed++),
    };
    const layer = isList
      ? emb.layers.raggedEmbedding({ ...args, combiner: 'mean' })
      : emb.layers.embedding({ ...args, combiner: 'sum' });
    return layer.apply(inputs[name]!) as tf.SymbolicTensor;
  };
  const dense = (units: number, name: string, activation: 'relu' | 'linear'): tf.layers.Layer =>
    tf.layers.dense({ units, name, activation, kernelInitializer: tf.initializers.glorotNormal({ seed: seed++ }) });
  const known = schema.features.filter(({ name }) => name !== schema.item);
  const vectors = known.map(({ name, kind }) => tableOf(name, kind === 'list'));
  const joined = vectors.length === 1 ? vectors[0]! : tf.layers.concatenate().apply(vectors);
  const hidden = dense(HIDDEN, 'hidden', 'relu').apply(joined);
  const query = dense(dim, QUERY, 'linear').apply(hidden) as tf.SymbolicTensor;
  const model = tf.model({
    inputs: Object.values(inputs),
    outputs: outputOf(schema, query, tableOf(schema.item, false)),
  });
  model.setUserDefinedMetadata({ [SCHEMA]: schema });
  model.pipeline = pipeline;
  const decay = { weightDecay: DECAY, multiplyWeightDecayByLearningRate: true };
  compile(model, schema, emb.train.adam({ learningRate, lazy: true, ...decay }));
  return model;
}

function outputOf({ task }: Schema, query: tf.SymbolicTensor, item: tf.SymbolicTensor): tf.SymbolicTensor {
  if (task === 'choice') {
    const unit = emb.layers.unitNormalization();
    const sides = [query, item].map((side) => unit.apply(side) as tf.SymbolicTensor);
    return emb.layers.candidateScores({ candidates: 'batch' }).apply(sides);
  }
  const score = tf.layers.dot({ axes: -1 }).apply([query, item]) as tf.SymbolicTensor;
  const activation = task === 'chance' ? 'sigmoid' : 'linear';
  // A scale above 0, so that the best product is the best prediction.
  const scale = { units: 1, kernelInitializer: 'ones', kernelConstraint: 'nonNeg', activation } as const;
  return tf.layers.dense({ ...scale, name: 'scale' }).apply(score) as tf.SymbolicTensor;
}

/** What a model is asked for, as it was saved with it. Throws for models from elsewhere. */
export function schemaOf(model: tf.LayersModel): Schema {
  const metadata = (model as unknown as { userDefinedMetadata?: Record<string, unknown> }).userDefinedMetadata;
  const schema = metadata?.[SCHEMA];
  if (schema === undefined || model.pipeline === null) throw new Error('This model was not downloaded from this page.');
  return schema as Schema;
}

const weightsOf = (model: tf.LayersModel, layer: string): tf.LayerVariable => model.getLayer(layer).weights[0]!;

/** A trained network as it is asked: by rows of texts and numbers. */
export class Network {
  readonly #query: tf.LayersModel;

  constructor(
    readonly model: tf.LayersModel,
    readonly schema: Schema,
  ) {
    const inputs = model.inputs.filter(({ name }) => name !== schema.item);
    this.#query = tf.model({ inputs, outputs: model.getLayer(QUERY).output as tf.SymbolicTensor });
  }

  /** Values of a column by their ids; the first stands for all that are not known. */
  names(column: string): readonly string[] {
    const { columns } = this.model.pipeline!.getConfig() as { columns: Record<string, SavedColumn> };
    const { list } = columns[column] as { list?: SavedColumn };
    const { className, config } = (list ?? columns[column]) as SavedColumn;
    const lookup = emb.preprocessing[className as 'StringLookup'].fromConfig(config);
    return lookup.getVocabulary().map(String);
  }

  /** Rows of the table of a column, of length 1, [values, dim]. The caller disposes them. */
  unitRows(column: string): tf.Tensor2D {
    const rows = weightsOf(this.model, tableName(this.schema, column)).read();
    return tf.tidy(() => emb.layers.unitNormalization().apply(rows) as tf.Tensor2D);
  }

  /** The vectors of what is known, [rows, dim], and those of all items, in the way in which their products are scores. */
  scored<T>(
    features: Readonly<Record<string, tf.Tensor | emb.RaggedTensor>>,
    use: (query: tf.Tensor2D, items: tf.Tensor2D) => T,
  ): T {
    const known = Object.fromEntries(this.#query.inputNames.map((name) => [name, features[name]!]));
    const query = this.#query.predict(known as never) as tf.Tensor2D;
    const items = weightsOf(this.model, ITEMS).read() as tf.Tensor2D;
    if (this.schema.task !== 'choice') {
      const result = use(query, items);
      query.dispose();
      return result;
    }
    const unit = emb.layers.unitNormalization();
    const [ofQuery, ofItems] = [unit.apply(query), unit.apply(items)] as [tf.Tensor2D, tf.Tensor2D];
    const result = use(ofQuery, ofItems);
    tf.dispose([query, ofQuery, ofItems]);
    return result;
  }

  /** What products mean: chances and numbers by the last layer, the products themselves without a label. */
  meaning(products: readonly number[]): number[] {
    if (this.schema.task === 'choice') return [...products];
    const column = tf.tensor2d([...products], [products.length, 1]);
    const read = this.model.getLayer('scale').apply(column) as tf.Tensor;
    const values = Array.from(read.dataSync());
    tf.dispose([column, read]);
    return values;
  }

  dispose(): void {
    this.model.dispose();
  }
}

interface SavedColumn {
  readonly className: string;
  readonly config: object;
}
