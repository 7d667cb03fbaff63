/** Trains items, freezes them, scores users that were folded in, and serves the page. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { startBackend } from '../backend.js';
import { makeUp } from '../bookshop.js';
import { InputError } from '../input_error.mjs';
import { Names, raggedOf, readInteractions, type ItemsOfUsers } from '../interactions.js';
import { Factors, type TrainingOptions } from '../matrix_factorization/training.js';
import { bundlePage, type PageFiles } from '../page/bundle.js';
import { openBrowser } from '../page/open_browser.js';
import { servePage } from '../page/server.js';
import { Random } from '../random.js';
import { freeze, itemsOf, modelFiles } from './frozen_items.js';
import type { Options } from './options.mjs';
import { negativesOf, refinedRow } from './refined_row.js';

const K = 20;

export interface Data {
  readonly numItems: number;
  readonly train: ItemsOfUsers;
  readonly test: ItemsOfUsers | null;
  readonly names: readonly string[];
}

/** Books that readers of the made-up shop have finished. */
export function madeUpData(seed: number): Data {
  const { reader, book, finished } = makeUp(seed) as Record<string, (string | number)[]>;
  const [readers, books] = [new Names(), new Names()];
  const rows: Set<number>[] = [];
  for (let i = 0; i < book!.length; i++) {
    const item = books.numberOf(String(book![i]));
    const user = readers.numberOf(String(reader![i]));
    if (finished![i] === 1) (rows[user] ??= new Set()).add(item);
  }
  const names = [...books.numbers.keys()];
  const train = Array.from(readers.numbers.values(), (user) => Int32Array.from(rows[user] ?? []));
  return { numItems: names.length, train, test: null, names };
}

function read({ train, test, names, seed }: Options): Data {
  if (train === null) return madeUpData(seed);
  const { numItems, parts } = readInteractions([train, test]);
  const given = names === null ? [] : readFileSync(names, 'utf8').trimEnd().split(/\r?\n/);
  if (names !== null && given.length < numItems) {
    throw new InputError(`${names} has ${given.length} lines: there are ${numItems} items`);
  }
  const all = Array.from({ length: numItems }, (_, item) => given[item] ?? `Item ${item}`);
  return { numItems, train: parts[0]!, test: parts[1] ?? null, names: all };
}

/** Vectors of users and items, of length 1. */
export function trainItems(
  data: Data,
  train: ItemsOfUsers,
  options: Options,
): { users: tf.Tensor2D; items: tf.Tensor2D } {
  const { dim, epochs, sampled, seed } = options;
  const training: TrainingOptions = {
    ...{ dim, epochs, sampled, seed, loss: 'softmax', temperature: 0.1, margin: 0, weight: 0 },
    ...{ rate: 0.2, batch: 256, width: 32, balance: 0.5, decay: 0.05 },
  };
  const factors = new Factors(train.length, data.numItems, training);
  for (let epoch = 1; epoch <= epochs; epoch++) {
    const { loss, seconds } = factors.epoch(train, () => undefined);
    process.stderr.write(`epoch ${epoch}/${epochs}: loss ${loss.toFixed(4)}, ${seconds.toFixed(1)} s\n`);
  }
  const vectors = factors.vectors();
  factors.dispose();
  return vectors;
}

async function recallOf(of: { users: tf.Tensor2D; items: tf.Tensor2D }, had: ItemsOfUsers, wanted: ItemsOfUsers) {
  const { recall } = await emb.evaluate.ranking(of, { train: raggedOf(had), test: raggedOf(wanted), k: K });
  return recall!;
}

export interface Compared {
  readonly users: number;
  /** Recalls: by least squares alone, after a few steps, and of the same users trained. */
  readonly foldedIn: number;
  readonly refined: number;
  readonly trained: number;
}

/** Recall of users that no training has seen, folded in into frozen items, beside that of the same users trained. */
export async function compare(data: Data, options: Options): Promise<Compared> {
  const { train, test } = data;
  const count = Math.max(1, Math.round(options['new-users'] * train.length));
  const chosen = new Set(new Random(options.seed + 1).permutation(train.length).subarray(0, count));
  const part = (rows: ItemsOfUsers, isNew: boolean): ItemsOfUsers =>
    rows.map((row, user) => (chosen.has(user) === isNew ? row : new Int32Array(0)));
  const wanted = part(test!, true);
  const all = trainItems(data, train, options);
  const trained = await recallOf(all, train, wanted);
  const others = trainItems(data, part(train, false), options);
  const frozen = freeze(others.items, settingsOf(options));
  const table = itemsOf(frozen);
  const users = emb.foldIn(table, { ids: raggedOf(part(train, true)), ...settingsOf(options) }) as tf.Tensor2D;
  // Users are compared with the rows that the page has.
  const rounded = emb.quantize(frozen, { dtype: 'float32' });
  const items = rounded.getWeights()[0] as tf.Tensor2D;
  const foldedIn = await recallOf({ users, items }, train, wanted);
  const after = refinedRows(users, table, part(train, true));
  const refined = await recallOf({ users: after, items }, train, wanted);
  tf.dispose([all.users, all.items, others.users, others.items, users, after]);
  for (const model of [frozen, rounded]) model.dispose();
  return { foldedIn, refined, trained, users: count };
}

/** Rows of users after the steps that a page takes. */
function refinedRows(users: tf.Tensor2D, table: tf.layers.Layer, had: ItemsOfUsers): tf.Tensor2D {
  const rows = users.arraySync();
  const negatives = negativesOf(table);
  had.forEach((own, user) => {
    if (own.length === 0) return;
    const row = tf.tensor1d(rows[user]!);
    const refined = refinedRow(row, table, own, negatives);
    rows[user] = refined.arraySync();
    tf.dispose([row, refined]);
  });
  negatives.dispose();
  return tf.tensor2d(rows, users.shape);
}

const settingsOf = ({ regularization, unobserved }: Options) => ({ regularization, unobservedWeight: unobserved });

/** The page with items of its own. */
export async function buildPersonal(frozen: tf.LayersModel, names: readonly string[]): Promise<PageFiles> {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  const page = await bundlePage({ folder, entries: { page: 'page/main.ts', worker: 'page/worker.ts' } });
  const ofNames = new TextEncoder().encode(JSON.stringify(names));
  return new Map([...page, ...(await modelFiles(frozen)), ['items/names.json', ofNames]]);
}

export async function run(options: Options): Promise<void> {
  await startBackend(null, null);
  const data = read(options);
  const compared = options['new-users'] === 0 ? null : await compare(data, options);
  if (compared !== null) {
    const { foldedIn, refined, trained, users } = compared;
    const shareOf = (recall: number): string => `${recall.toFixed(4)} (${((100 * recall) / trained).toFixed(1)} %)`;
    process.stdout.write(
      `recall@${K} of ${users} users trained ${trained.toFixed(4)}, folded in ${shareOf(foldedIn)}, after a few steps ${shareOf(refined)}
`,
    );
    if (options.json) process.stdout.write(`${JSON.stringify(compared)}\n`);
  }
  if (options['no-page']) return;
  const { users, items } = trainItems(data, data.train, options);
  const frozen = freeze(items, settingsOf(options));
  const files = await buildPersonal(frozen, data.names);
  tf.dispose([users, items]);
  frozen.dispose();
  const { url } = await servePage(files, options.port);
  process.stdout.write(`${url}\nCtrl+C ends it.\n`);
  if (options.open) openBrowser(url);
}
