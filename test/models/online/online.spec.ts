/** The online recommender: events are learned once each whatever ends the process, replicas follow, mistakes are named. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LoadResult } from '../../../models/online/load.js';
import { MadeUpVisitors } from '../../../models/online/made_up_visitors.js';
import { openStore } from '../../../models/online/stores/index.js';
import { Random } from '../../helpers/random.js';
import { casesOf } from '../../forms/forms.js';
import { OnlineProcess } from './online_process.js';
import { PostgresServer, postgresPrograms } from './postgres_server.js';

const SMALL = ['--users', '600', '--items', '400', '--dim', '8', '--batch', '16', '--wait', '0.05'];
const SERVED = [...SMALL, '--port', '0', '--publish', '0.1', '--checkpoint', '0.5', '--backend', 'cpu'];

interface Recommendation {
  readonly batch: number;
  readonly items: readonly { item: string; score: number }[];
}

describe('models/online', () => {
  const folders: string[] = [];
  const newFolder = (): string => {
    const folder = mkdtempSync(join(tmpdir(), 'tfjs-embeddings-online-'));
    folders.push(folder);
    return folder;
  };

  afterAll(() => {
    OnlineProcess.killAll();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  /** Sends events until the process is killed; returns the keys of those that were acknowledged. */
  async function sendUntilKilled(started: OnlineProcess, visitors: MadeUpVisitors, random: Random, life: number) {
    const acknowledged: string[] = [];
    const end = performance.now() + random.next() * life;
    const client = async (name: number): Promise<void> => {
      for (let n = 0; performance.now() < end; n++) {
        const sent = Array.from({ length: random.whole(1, 5) }, (_, i) => ({
          ...visitors.event(),
          key: `${started.url}-${name}-${n}-${i}`,
        }));
        const { status } = await started.post(sent).catch(() => ({ status: 0 }));
        if (status === 201) acknowledged.push(...sent.map(({ key }) => key));
      }
    };
    const clients = [1, 2, 3].map(client);
    await new Promise((resolve) => setTimeout(resolve, end - performance.now()));
    await started.stop('SIGKILL');
    await Promise.all(clients);
    return acknowledged;
  }

  const kills = casesOf('ONLINE_KILLS');
  for (const kind of ['SQLite', 'PostgreSQL']) {
    it(`with ${kind} learns every acknowledged event once, and is what a replay gives, though it is killed`, async () => {
      const programs = postgresPrograms();
      if (kind === 'PostgreSQL' && programs === null)
        return pending('this machine has no PostgreSQL (Debian: postgresql)');
      const server = kind === 'PostgreSQL' ? await PostgresServer.start(programs!) : null;
      try {
        const [folder, random, visitors] = [newFolder(), new Random(11), new MadeUpVisitors(3, 300)];
        const database = server?.url ?? null;
        const where = ['--folder', folder, ...(database === null ? [] : ['--database', database])];
        const acknowledged: string[] = [];
        const times = kind === 'SQLite' ? kills : Math.min(kills, 2);
        for (let kill = 0; kill < times; kill++) {
          const started = await OnlineProcess.listening([...where, ...SERVED]);
          acknowledged.push(...(await sendUntilKilled(started, visitors, random, 2500)));
        }
        const last = await OnlineProcess.listening([...where, ...SERVED]);
        // What was kept by processes before it is told from the start.
        const { kept } = await last.get<{ kept: number }>('/status');
        expect(kept).toBeGreaterThanOrEqual(Math.max(1, acknowledged.length));
        expect((await last.post([{ user: 'last', item: 'item-1', key: 'last' }])).status).toBe(201);
        expect(await last.stop('SIGTERM'))
          .withContext(last.said)
          .toBe(0);
        const store = await openStore({ folder, database }, true);
        const events = await store.eventsAfter(0, 1e9);
        const batches = await store.batchesFrom(1, 1e9);
        // Each event has a place in one batch, and what was acknowledged is there.
        expect(batches.map(({ number }) => number)).toEqual(batches.map((_, i) => i + 1));
        batches.forEach(({ after }, i) => expect(after).toBe(i === 0 ? 0 : batches[i - 1]!.last));
        expect(batches.at(-1)!.last).toBe(events.at(-1)!.id);
        expect(events.at(-1)!.user).toBe('last');
        expect(events.length).toBeGreaterThanOrEqual(acknowledged.length + 1);
        const again = acknowledged.map((key) => ({ user: 'again', item: 'again', key }));
        // Under their keys they are kept already.
        if (again.length > 0) expect(await store.append(again)).toBe(events.at(-1)!.id);
        await store.close();
        const replayed = OnlineProcess.run([...where, ...SMALL, '--backend', 'cpu', '--replay']);
        expect(await replayed.ended())
          .withContext(replayed.said)
          .toBe(0);
        expect(replayed.printed).toContain(
          `${batches.length} batches of ${events.length} events replayed: the model is equal to the bit`,
        );
      } finally {
        await server?.stop();
      }
    }, 1_200_000);
  }

  it('serves what it has learned, here and in a replica, and names mistakes', async () => {
    const folder = newFolder();
    const started = await OnlineProcess.listening(['--folder', folder, ...SERVED, '--checkpoint', '1000']);
    const follower = await OnlineProcess.listening(['--folder', folder, '--follow', '--port', '0']);
    try {
      for (const wrong of [
        { user: 5, item: 'x' },
        { user: 'a' },
        [],
        { user: '\ud800', item: 'x' },
        { user: '', item: 'x' },
      ]) {
        expect((await started.post(wrong)).status)
          .withContext(JSON.stringify(wrong))
          .toBe(400);
      }
      const visitors = new MadeUpVisitors(5, 100);
      for (let i = 0; i < 10; i++) {
        const { status, body } = await started.post(Array.from({ length: 32 }, () => visitors.event()));
        expect([status, body]).toEqual([201, { kept: 32, last: 32 * (i + 1) }]);
      }
      await started.post({ user: 'someone', item: 'item-1' });
      const ask = (of: OnlineProcess, rest = ''): Promise<Recommendation> =>
        of.get(`/recommend/someone?k=5&history=item-1${rest}`);
      type Status = { model: { event: number; batch: number } };
      for (const each of [started, follower]) {
        while ((await each.get<Status>('/status')).model.event < 321) await new Promise((done) => setTimeout(done, 20));
      }
      const [own, followed] = [await ask(started), await ask(follower)];
      expect(own.items.length).toBe(5);
      expect(own.items.map(({ item }) => item)).not.toContain('item-1');
      expect(followed).toEqual(own);
      // What is known of the user is left out without being told.
      expect(await started.get('/recommend/someone?k=5')).toEqual(own as never);
      expect((await ask(started, '&history=item-2')).items.map(({ item }) => item)).not.toContain('item-2');
      for (const path of ['/recommend/someone?k=0', '/recommend/someone?k=x', '/recommend/someone?n=1']) {
        expect((await fetch(started.url + path)).status)
          .withContext(path)
          .toBe(400);
      }
      const refused = await follower.post({ user: 'a', item: 'b' });
      expect([refused.status, refused.body['error']]).toEqual([
        409,
        'this process follows another one: events go there',
      ]);
      const metrics = await (await fetch(`${started.url}/metrics`)).text();
      expect(metrics).toMatch(/^online_events_learned_total 321$/m);
      expect(await (await fetch(`${started.url}/`)).text()).toContain('Online recommender');

      const others: [string[], RegExp][] = [
        [['--folder', folder, ...SERVED], /belongs to another process that runs/],
        [['--folder', folder, ...SERVED, '--dim', '4'], /was begun with --dim 8, not 4/],
        [['--folder', newFolder(), ...SERVED, '--port', new URL(started.url!).port], /port \d+ cannot be used/],
        [['--folder', newFolder(), ...SMALL, '--replay'], /there is no checkpoint/],
      ];
      for (const [args, said] of others) {
        const other = OnlineProcess.run(args);
        expect(await other.ended()).toBe(1);
        expect(other.said).toMatch(said);
      }
    } finally {
      expect(await follower.stop('SIGTERM'))
        .withContext(follower.said)
        .toBe(0);
      expect(await started.stop('SIGTERM'))
        .withContext(started.said)
        .toBe(0);
    }
    expect(started.printed).toContain('ended after event 321');
  }, 300_000);

  it('measures itself under load', async () => {
    const small = [
      '--load',
      '2',
      '--made-up-items',
      '200',
      '--events-per-second',
      '100',
      '--asks-per-second',
      '50',
      '--json',
    ];
    const started = OnlineProcess.run([...SERVED, ...small]);
    expect(await started.ended())
      .withContext(started.said)
      .toBe(0);
    const line = started.printed.split('\n').find((each) => each.startsWith('{'))!;
    const found = JSON.parse(line) as LoadResult;
    expect(found.failed).toBe(0);
    expect(found.items).toBe(200);
    expect(found.recommendationsPerSecond).toBeGreaterThan(1);
    expect(found.eventsLearnedPerSecond).toBeGreaterThan(1);
  }, 300_000);
});
