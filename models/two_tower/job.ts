/**
 * Two towers: reads who had what and the features of both, trains by softmax among the items of a batch, ranks all items
 * that a user does not have, and makes the model that serves.
 */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { startBackend } from '../backend.js';
import { raggedOf, readInteractions } from '../interactions.js';
import { ProgressBar } from '../progress_bar.js';
import { Random } from '../random.js';
import { inputsOf, ownIds, readFeatures } from './features.js';
import { makeUp, type Data } from './made_up.js';
import { buildTowers, retrievalOf, type Towers } from './model.js';
import type { Options } from './options.mjs';

const PROGRESS = 'epoch {epoch}/{epochs} [{bar}] loss {loss}';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

function read({ train, test, users, items, seed, k }: Options): Data {
  if (train === null) return makeUp(seed, k);
  const { parts, numUsers, numItems, userNames, itemNames } = readInteractions([train, test]);
  const featuresOf = (path: string | null, key: string, names: ReadonlyMap<string, number>, count: number) =>
    path === null ? [] : readFeatures(path, key, (name) => names.get(name) ?? null, count);
  return {
    train: parts[0]!,
    test: parts[1]!,
    users: [ownIds('user', numUsers), ...featuresOf(users, 'user_id', userNames, numUsers)],
    items: [ownIds('item', numItems), ...featuresOf(items, 'item_id', itemNames, numItems)],
    bestRecall: null,
  };
}

async function train(
  { both }: Towers,
  data: Data,
  options: Options,
): Promise<{ loss: number; stepsPerSecond: number }> {
  const { epochs, batch, rate, temperature, seed } = options;
  const users = Int32Array.from(data.train.flatMap((row, user) => Array.from(row, () => user)));
  const items = Int32Array.from(data.train.flatMap((row) => Array.from(row)));
  // Frequent items are drawn often as negatives, which logQ makes up for.
  const drawn = new Float64Array(data.items[0]!.ids.length).fill(0);
  for (const item of items) drawn[item]! += 1 / items.length;
  both.compile({
    optimizer: emb.train.adam({ learningRate: rate }),
    loss: emb.losses.inBatchSoftmax({ temperature, samplingProbabilities: drawn }),
  });
  const random = new Random(seed);
  const bar = new ProgressBar(PROGRESS, epochs);
  let [loss, steps, seconds] = [NaN, 0, 0];
  for (let epoch = 1; epoch <= epochs; epoch++) {
    const from = performance.now();
    const order = random.permutation(items.length);
    const [u, i] = [users, items].map((ids) => order.map((at) => ids[at]!));
    const xs = [...inputsOf(data.users, u!), ...inputsOf(data.items, i!)];
    const ys = tf.tensor2d(i!, [i!.length, 1], 'int32');
    const { history } = await both.fit(xs, ys, { batchSize: batch, epochs: 1, shuffle: false, verbose: 0 });
    tf.dispose([xs, ys]);
    loss = history['loss']![0] as number;
    steps += Math.ceil(items.length / batch);
    seconds += (performance.now() - from) / 1000;
    bar.update(epoch, { epoch, epochs, loss: loss.toFixed(4) });
  }
  bar.stop();
  return { loss, stepsPerSecond: steps / seconds };
}

export async function run(options: Options): Promise<void> {
  const data = read(options);
  const [numUsers, numItems] = [data.users, data.items].map(([first]) => first!.ids.length / first!.width);
  const names = (of: Data['users']): string => of.map(({ name }) => name).join(', ');
  say(`${numUsers} users (${names(data.users)}), ${numItems} items (${names(data.items)})`);
  const info = await startBackend(options.backend, null);
  const towers = buildTowers(data.users, data.items, options);
  const trained = await train(towers, data, options);
  const { captured, reason } = emb.stepInfo(towers.both);
  if (reason !== null) say(`steps ran op by op: ${reason}`);

  const vectorsOf = (tower: tf.LayersModel, features: Data['users'], count: number): tf.Tensor2D =>
    tf.tidy(() =>
      tower.predict(
        inputsOf(
          features,
          new Int32Array(count).map((_, row) => row),
        ),
        { batchSize: 4096 },
      ),
    ) as tf.Tensor2D;
  const users = vectorsOf(towers.users, data.users, numUsers!);
  const items = vectorsOf(towers.items, data.items, numItems!);
  const { k } = options;
  const [had, wanted] = [raggedOf(data.train), raggedOf(data.test)];
  const found = await emb.evaluate.ranking(
    { users, items },
    { train: had, test: wanted, k, metrics: ['recall', 'ndcg'] },
  );
  const best = data.bestRecall === null ? '' : ` (best possible ${data.bestRecall.toFixed(4)})`;
  say(`recall@${k} ${found.recall!.toFixed(4)}${best}, ndcg@${k} ${found.ndcg!.toFixed(4)}`);

  const serving = retrievalOf(towers.users, items, Math.min(k, numItems!));
  const [, first] = tf.tidy(() => serving.predict(inputsOf(data.users, [0]))) as [tf.Tensor, tf.Tensor];
  say(`best items of the first user: ${first.dataSync().slice(0, 5).join(', ')}, …`);
  if (options.save !== null) {
    await serving.save(`file://${options.save}`);
    say(`saved to ${options.save}`);
  }
  const result = {
    backend: info.backend,
    [`recall@${k}`]: found.recall,
    [`ndcg@${k}`]: found.ndcg,
    ...(data.bestRecall !== null && { [`bestRecall@${k}`]: data.bestRecall }),
    users: numUsers,
    items: numItems,
    judgedUsers: found.users,
    captured,
    ...trained,
    epochs: options.epochs,
    peakMemory: 1024 * process.resourceUsage().maxRSS,
    seed: options.seed,
  };
  if (options.json) say(JSON.stringify(result));
}
