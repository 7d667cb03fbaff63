/**
 * Two towers of open tables. A user's vector is made from its own row and the rows of the last items that it had, so that
 * a new user has one after its first event; an item's vector is its row, so that the best items are found in the table.
 */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import type { Event } from './event.js';
import type { Options } from './options.mjs';

export type Shape = Pick<Options, 'dim' | 'users' | 'items' | 'rate' | 'temperature' | 'seed'>;

/** Scores of all users and items of a batch, [batch, batch]. */
export function buildTowers({ dim, users, items, rate, temperature, seed }: Shape): tf.LayersModel {
  const start = tf.initializers.randomNormal({ stddev: 0.1 });
  const table = (name: string, capacity: number, keepTexts: boolean) =>
    emb.openTable({ name, capacity, outputDim: dim, keys: 'string', keepTexts, embeddingsInitializer: start, seed });
  const [ofUsers, ofItems] = [table('users', users, false), table('items', items, true)];
  const user = emb.input({ shape: [1], dtype: 'string', name: 'user' }) as tf.SymbolicTensor;
  const history = emb.input({ shape: [null], ragged: true, dtype: 'string', name: 'history' }) as tf.SymbolicTensor;
  const item = emb.input({ shape: [1], dtype: 'string', name: 'item' }) as tf.SymbolicTensor;
  const rowsOf = (name: string, of: emb.OpenTable, input: tf.SymbolicTensor) =>
    emb.layers.embedding({ name, table: of, combiner: 'mean' }).apply(input) as tf.SymbolicTensor;
  const dense = (units: number, activation: 'relu' | 'linear', next: number) =>
    tf.layers.dense({
      units,
      activation,
      kernelInitializer: tf.initializers.glorotUniform({ seed: 1 + 100 * seed + next }),
    });
  const known = tf.layers
    .concatenate()
    .apply([rowsOf('user_row', ofUsers, user), rowsOf('history_rows', ofItems, history)]) as tf.SymbolicTensor;
  const vector = dense(dim, 'linear', 2).apply(dense(2 * dim, 'relu', 1).apply(known)) as tf.SymbolicTensor;
  const named = tf.layers.activation({ activation: 'linear', name: 'user_vector' }).apply(vector) as tf.SymbolicTensor;
  const scores = emb.layers.candidateScores({ candidates: 'batch' }).apply([named, rowsOf('item_row', ofItems, item)]);
  const model = tf.model({ inputs: [user, history, item], outputs: scores as tf.SymbolicTensor, name: 'towers' });
  return compiled(model, { rate, temperature });
}

/** Ready to train; one that was loaded goes on with its optimizer. */
export function compiled(
  model: tf.LayersModel,
  { rate, temperature }: Pick<Shape, 'rate' | 'temperature'>,
): tf.LayersModel {
  const optimizer = (model.optimizer as tf.Optimizer | undefined) ?? emb.train.adagrad({ learningRate: rate });
  model.compile({ optimizer, loss: emb.losses.inBatchSoftmax({ temperature }) });
  return model;
}

/** The tower of users by itself: user and history to a vector. */
export function userTower(towers: tf.LayersModel): tf.LayersModel {
  const [user, history] = towers.inputs;
  return tf.model({ inputs: [user!, history!], outputs: towers.getLayer('user_vector').output as tf.SymbolicTensor });
}

/** What the model is fed for some users. */
export function userInputs(
  users: readonly string[],
  histories: readonly (readonly string[])[],
): [user: string[][], history: { values: string[]; rowSplits: number[] }] {
  const rowSplits = [0];
  for (const { length } of histories) rowSplits.push(rowSplits.at(-1)! + length);
  return [users.map((user) => [user]), { values: histories.flat(), rowSplits }];
}

/** What the model is fed for events. */
export function inputsOf(events: readonly Event[], histories: readonly (readonly string[])[]): unknown[] {
  const users = events.map(({ user }) => user);
  return [...userInputs(users, histories), events.map(({ item }) => [item])];
}

/** Which items of a batch are the same, as ids: an item is no negative of itself. */
export function itemsOfBatch(events: readonly Event[]): Int32Array {
  const ids = new Map<string, number>();
  for (const { item } of events) if (!ids.has(item)) ids.set(item, ids.size);
  return Int32Array.from(events, ({ item }) => ids.get(item)!);
}
