/**
 * Matrix factorization: reads who had which item, chooses the number of epochs on items that were held back for that,
 * trains on all but the test items, and ranks for each user the items that it does not have.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { startBackend } from '../backend.js';
import {
  joined,
  raggedOf,
  readInteractions,
  readNegatives,
  writeNegatives,
  writeRatings,
  type ItemsOfUsers,
} from '../interactions.js';
import { InputError } from '../input_error.mjs';
import { ProgressBar } from '../progress_bar.js';
import { Random } from '../random.js';
import { makeUp, type MadeUp } from './made_up.js';
import type { Options } from './options.mjs';
import { Factors, type Epoch } from './training.js';

/** Epochs between two looks at the items held back, and how many looks without a gain end the search. */
const EVERY = 4;
const PATIENCE = 2;
/** How many users' items are looked at then; the others are not. */
const MOST_JUDGED = 5000;
/** Of folding in: what counts beside the known items. Chosen on Gowalla's train.txt and valid.txt. */
const FOLD_IN = { regularization: 20, unobservedWeight: 0.0015 };
const PROGRESS = '{what}: epoch {epoch}/{epochs} [{bar}] loss {loss}{held}';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

interface Data {
  readonly numUsers: number;
  readonly numItems: number;
  readonly train: ItemsOfUsers;
  readonly valid: ItemsOfUsers | null;
  readonly test: ItemsOfUsers;
  /** What test items are ranked among; null: all. */
  readonly negatives: ItemsOfUsers | null;
  readonly best: { readonly hitRate: number; readonly ndcg: number } | null;
}

function read({ train, valid, test, negatives, seed, k, write }: Options): Data {
  if (train === null) {
    const made = makeUp(seed, k);
    if (write !== null) writeFiles(write, made);
    return made;
  }
  const found = readInteractions([train, valid, test]);
  const [fit, held, scored] = found.parts;
  if (scored!.every(({ length }) => length === 0)) throw new InputError(`${test} holds no items`);
  const among = negatives === null ? null : readNegatives(negatives, found);
  return { ...found, train: fit!, valid: held!, test: scored!, negatives: among, best: null };
}

/** What chooses the epoch is trained on, as NCF's files have no such part. */
function writeFiles(folder: string, { train, valid, test, negatives }: MadeUp): void {
  mkdirSync(folder, { recursive: true });
  writeRatings(join(folder, 'train.rating'), joined(train, valid));
  writeRatings(join(folder, 'test.rating'), test);
  writeNegatives(join(folder, 'test.negative'), test, negatives);
  say(`wrote train.rating, test.rating and test.negative to ${folder}`);
}

/** Trains for so many epochs; `afterEpoch` may end it. */
async function train(
  { numUsers, numItems }: Data,
  items: ItemsOfUsers,
  options: Options,
  { what, epochs, afterEpoch }: { what: string; epochs: number; afterEpoch?: AfterEpoch },
): Promise<{ factors: Factors; taken: Epoch[] }> {
  const factors = new Factors(numUsers, numItems, options);
  const bar = new ProgressBar(PROGRESS, epochs);
  const taken: Epoch[] = [];
  const shown = { what, epoch: 1, epochs, loss: '-', held: '' };
  try {
    for (let epoch = 1; epoch <= epochs; epoch++) {
      const last = factors.epoch(items, (loss) =>
        bar.update(epoch - 1, Object.assign(shown, { epoch, loss: loss.toFixed(4) })),
      );
      taken.push(last);
      const held = (await afterEpoch?.(epoch, factors)) ?? { shown: shown.held, isEnd: false };
      bar.update(epoch, Object.assign(shown, { loss: last.loss.toFixed(4), held: held.shown }));
      await tf.nextFrame();
      if (held.isEnd) break;
    }
  } finally {
    bar.stop();
  }
  return { factors, taken };
}

type AfterEpoch = (epoch: number, factors: Factors) => Promise<{ shown: string; isEnd: boolean } | null>;

interface Judged {
  readonly had: ItemsOfUsers;
  readonly wanted: ItemsOfUsers;
  readonly among?: ItemsOfUsers | null;
  readonly k: number;
}

/** How well users are recommended what was held back. */
async function judge(vectors: emb.evaluate.ScoredVectors, { had, wanted, among = null, k }: Judged) {
  return emb.evaluate.ranking(vectors, {
    train: raggedOf(had),
    test: raggedOf(wanted),
    k,
    metrics: ['recall', 'ndcg', 'hitRate'],
    sampledCandidates: among && raggedOf(among),
  });
}

async function judgeFactors(factors: Factors, judged: Judged) {
  const vectors = factors.vectors();
  return judge(vectors, judged).finally(() => tf.dispose([vectors.users, vectors.items]));
}

/** The number of epochs that is best on the items held back, and what it reaches there. */
async function chooseEpochs(data: Data, options: Options): Promise<{ epochs: number; recall: number }> {
  const best = { epochs: 0, recall: -1 };
  const judged = new Set(new Random(options.seed).permutation(data.numUsers).subarray(0, MOST_JUDGED));
  const wanted = data.valid!.map((row, user) => (judged.has(user) ? row : new Int32Array(0)));
  const afterEpoch: AfterEpoch = async (epoch, factors) => {
    if (epoch % EVERY !== 0 && epoch !== options.epochs) return null;
    const { recall } = await judgeFactors(factors, { had: data.train, wanted, k: options.k });
    if (recall! > best.recall) Object.assign(best, { epochs: epoch, recall });
    const isEnd = epoch >= best.epochs + PATIENCE * EVERY;
    return { shown: `, recall@${options.k} of items held back ${recall!.toFixed(4)}`, isEnd };
  };
  const settings = { what: 'choosing the epoch', epochs: options.epochs, afterEpoch };
  const { factors } = await train(data, data.train, options, settings);
  factors.dispose();
  return best;
}

/** Recall of users that were not trained, from the vectors of their items, beside that of the same users trained. */
async function foldIn(data: Data, items: ItemsOfUsers, factors: Factors, options: Options, epochs: number) {
  const isNew = new Uint8Array(data.numUsers);
  const count = Math.max(1, Math.round(options['new-users'] * data.numUsers));
  for (const user of new Random(options.seed + 1).permutation(data.numUsers).subarray(0, count)) isNew[user] = 1;
  const none = new Int32Array(0);
  const of = (rows: ItemsOfUsers, wanted: number): ItemsOfUsers =>
    rows.map((row, user) => (isNew[user] === wanted ? row : none));
  const judged = { had: items, wanted: of(data.test, 1), among: data.negatives, k: options.k };
  const trained = await judgeFactors(factors, judged);
  const others = await train(data, of(items, 0), options, { what: 'without new users', epochs });
  const vectors = others.factors.vectors();
  const users = emb.foldIn(vectors.items, { ids: raggedOf(of(items, 1)), ...FOLD_IN }) as tf.Tensor2D;
  const folded = await judge({ users, items: vectors.items }, judged);
  tf.dispose([users, vectors.users, vectors.items]);
  others.factors.dispose();
  return { users: trained.users, recall: folded.recall!, trainedRecall: trained.recall! };
}

/** A model that gives the best items, and their scores, for the number of a user; those that it has among them. */
async function save(folder: string, factors: Factors, k: number): Promise<void> {
  const { users, items } = factors.vectors();
  const [inputDim, outputDim] = users.shape;
  const user = tf.input({ shape: [1], dtype: 'int32', name: 'user' });
  const table = emb.layers.embedding({ name: 'users', inputDim, outputDim, combiner: 'sum' });
  const best = emb.layers.bruteForceRetrieval({ name: 'items', candidates: items, k: Math.min(k, items.shape[0]) });
  const model = tf.model({ inputs: user, outputs: best.apply(table.apply(user) as tf.SymbolicTensor) });
  table.setWeights([users]);
  await model.save(`file://${folder}`);
  model.dispose();
  tf.dispose([users, items]);
  say(`saved to ${folder}`);
}

export async function run(options: Options): Promise<void> {
  const start = performance.now();
  const data = read(options);
  const items = joined(data.train, data.valid);
  const pairs = items.reduce((sum, { length }) => sum + length, 0);
  say(`${data.numUsers} users, ${data.numItems} items, ${pairs} pairs to train on`);
  const info = await startBackend(options.backend, null);
  const { loss, k } = options;

  const isChosen = options.chosen || data.valid === null;
  const chosen = isChosen ? { epochs: options.epochs, recall: null } : await chooseEpochs(data, options);
  if (chosen.recall !== null)
    say(`epoch ${chosen.epochs} was best: recall@${k} ${chosen.recall.toFixed(4)} of items held back`);
  const { factors, taken } = await train(data, items, options, { what: 'training', epochs: chosen.epochs });
  const mean = (of: (epoch: Epoch) => number): number => taken.reduce((sum, each) => sum + of(each), 0) / taken.length;
  const [secondsPerEpoch, cpuSecondsPerEpoch] = [mean(({ seconds }) => seconds), mean(({ cpuSeconds }) => cpuSeconds)];
  say(`an epoch took ${secondsPerEpoch.toFixed(2)} s, ${cpuSecondsPerEpoch.toFixed(2)} of a processor's`);
  const { captured, reason } = factors.info;
  if (reason !== null) say(`steps ran op by op: ${reason}`);

  const among = data.negatives;
  const found = await judgeFactors(factors, { had: items, wanted: data.test, among, k });
  const of = among === null ? 'all items that a user does not have' : 'the candidates';
  const first = among === null ? 'recall' : 'hitRate';
  const best =
    data.best === null ? '' : ` (best possible ${data.best.hitRate.toFixed(4)}, ${data.best.ndcg.toFixed(4)})`;
  say(`${first}@${k} ${found[first]!.toFixed(4)}, ndcg@${k} ${found.ndcg!.toFixed(4)} among ${of}${best}`);
  const folded = options['new-users'] === 0 ? null : await foldIn(data, items, factors, options, chosen.epochs);
  if (folded !== null) {
    const { recall, trainedRecall, users } = folded;
    say(
      `recall@${k} of ${users} users folded in ${recall.toFixed(4)}, of the same users trained ${trainedRecall.toFixed(4)}`,
    );
  }
  if (options.save !== null) await save(options.save, factors, k);
  const result = {
    backend: info.backend,
    kernels: info.kernels,
    loss,
    [`${first}@${k}`]: found[first],
    [`ndcg@${k}`]: found.ndcg,
    ...(data.best !== null && { [`bestHitRate@${k}`]: data.best.hitRate, [`bestNdcg@${k}`]: data.best.ndcg }),
    users: data.numUsers,
    items: data.numItems,
    pairs,
    judgedUsers: found.users,
    epochs: chosen.epochs,
    heldOutRecall: chosen.recall,
    ...(folded !== null && { foldIn: folded }),
    captured,
    trainingLoss: taken.at(-1)!.loss,
    secondsPerEpoch,
    cpuSecondsPerEpoch,
    seconds: (performance.now() - start) / 1000,
    peakMemory: 1024 * process.resourceUsage().maxRSS,
    seed: options.seed,
  };
  factors.dispose();
  if (options.json) say(JSON.stringify(result));
}
