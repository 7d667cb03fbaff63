/** The online recommender: what its process does, from the options on. */
import { join } from 'node:path';
import { startBackend } from '../backend.js';
import { inFolder } from '../other_process.js';
import { AppendQueue } from './append_queue.js';
import { Gauges } from './gauges.js';
import { load } from './load.js';
import type { Options } from './options.mjs';
import { Recommender } from './recommender.js';
import { agreeOnSettings } from './settings.js';
import { replay } from './replay.js';
import { listen, makeServer } from './server.js';
import { Follower } from './snapshots.js';
import { openStore } from './stores/index.js';
import { TrainingThread, type FromThread } from './training_thread.js';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Milliseconds between two looks for a snapshot of another process. */
const LOOK = 100;

/** Resolves when the process is asked to end. */
function askedToEnd(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve(signal));
  });
}

/** Rows in use, as far as there is a model. */
function rowsInUse(follower: Follower): { users?: number; items?: number } {
  const tables = follower.tables;
  return tables === null ? {} : { users: tables['users']!.size(), items: tables['items']!.size() };
}

/** Serves the snapshots that another process writes. */
async function follow(options: Options, folder: string): Promise<void> {
  await startBackend('cpu', null);
  const [follower, gauges] = [new Follower(folder), new Gauges()];
  const recommender = new Recommender(follower);
  const { k, host, port } = options;
  let problem: string | null = null;
  const status = () => ({ ...rowsInUse(follower), at: follower.at, problem });
  const server = makeServer({ recommender, gauges, queue: null, historyOf: async () => [], k, status });
  let isEnding = false;
  const looking = (async () => {
    while (!isEnding) {
      try {
        if (await follower.update()) gauges.batch.set(follower.position.batch);
        problem = null;
      } catch (error) {
        // The writer may be between two files; what was served is served on.
        if (problem === null) say(`the newest snapshot cannot be read: ${(error as Error).message}`);
        problem = (error as Error).message;
      }
      if (follower.at > 0) gauges.age.set((Date.now() - follower.at) / 1000);
      await new Promise((resolve) => setTimeout(resolve, LOOK));
    }
  })();
  say(`follows ${folder} at ${await listen(server, host, port)}`);
  await askedToEnd();
  isEnding = true;
  await server.close();
  await looking;
}

/** Takes events, trains, and serves. */
async function serve(options: Options, folder: string): Promise<void> {
  const { k, host, port, database, backend, wait, publish, checkpoint } = options;
  const place = { folder, database };
  const store = await openStore(place, true);
  // Queries are answered here, on the kernels of this process; the thread computes on what was asked for.
  await startBackend('cpu', null);
  const [follower, gauges] = [new Follower(folder), new Gauges()];
  const recommender = new Recommender(follower);
  // What waits is told from the start: those that were kept before this process began, too.
  let [kept, learnedUpTo, updating] = [await store.lastId(), 0, Promise.resolve()];
  let fail = (_: Error): void => {};
  const failed = new Promise<never>((_, reject) => (fail = reject));
  failed.catch(() => {});
  let isReady = (): void => {};
  const ready = new Promise<void>((resolve) => (isReady = resolve));

  const update = (): void => {
    updating = updating.then(async () => {
      await follower.update();
      gauges.batch.set(follower.position.batch);
    });
    updating.catch(fail);
  };
  const heard = (message: FromThread): void => {
    if ('position' in message) learnedUpTo = message.position.event;
    gauges.waiting.set(Math.max(0, kept - learnedUpTo));
    switch (message.kind) {
      case 'ready': {
        const again = message.again > 0 ? `, ${message.again} of them learned again after the checkpoint` : '';
        say(`trains on ${message.backend}; ${message.position.batch} batches learned so far${again}`);
        update();
        return isReady();
      }
      case 'learned':
        return gauges.step(message.result, message.events);
      case 'published':
        return update();
      case 'checkpoint':
        return gauges.checkpoints.set(message.seconds);
      case 'said':
        return say(message.line);
      case 'finished':
        return;
    }
  };
  const thread = new TrainingThread({ place, options, backend, wait, publish, checkpoint }, heard, fail);
  const queue = new AppendQueue(store, (last) => {
    kept = last;
    thread.wake();
  });
  const historyOf = (user: string) => store.historyOf(user, options.history);
  const status = () => ({ ...rowsInUse(follower), at: follower.at, waiting: Math.max(0, kept - learnedUpTo), kept });
  const server = makeServer({ recommender, gauges, queue, historyOf, k, status });
  try {
    await Promise.race([ready, failed]);
    await updating;
    const url = await listen(server, host, port);
    say(`listens at ${url}, keeps events in ${database === null ? join(folder, 'events.sqlite') : 'PostgreSQL'}`);
    const work = options.load === null ? askedToEnd() : load(url, options, say);
    const signal = await Promise.race([work, askedToEnd(), failed]);
    if (typeof signal === 'string') say(`${signal}: learns what was kept, and ends`);
    await server.close();
    await queue.drained();
    await Promise.race([thread.finish(), failed]);
    await updating;
    say(`ended after event ${learnedUpTo}`);
  } catch (error) {
    await thread.terminate();
    throw error;
  } finally {
    await store.close();
  }
}

export async function run(options: Options): Promise<void> {
  await inFolder(options.folder, async (folder) => {
    if (options.follow) return follow(options, folder);
    agreeOnSettings(folder, options);
    return options.replay ? replay(options, folder, say) : serve(options, folder);
  });
}
