/** Stores of events: SQLite, and PostgreSQL where it is installed, by the same rules. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppendQueue } from '../../../models/online/append_queue.js';
import type { NewEvent } from '../../../models/online/event.js';
import type { EventStore } from '../../../models/online/stores/event_store.js';
import { openStore } from '../../../models/online/stores/index.js';
import { PostgresServer, postgresPrograms } from './postgres_server.js';

const visits: NewEvent[] = [
  { user: 'ann', item: 'tea' },
  { user: 'bob', item: 'salt', key: 'first' },
  { user: 'ann', item: 'milk' },
  { user: 'ann', item: 'Äpfel \u{1f34e}' },
  { user: "o'neil", item: '"; DROP TABLE events; --' },
];

for (const kind of ['SQLite', 'PostgreSQL']) {
  describe(`the store of events in ${kind}`, () => {
    const programs = kind === 'PostgreSQL' ? postgresPrograms() : null;
    let server: PostgresServer | null = null;
    let folder = '';
    let database: string | null = null;

    beforeAll(async () => {
      if (kind === 'SQLite') return;
      if (programs === null) return pending('this machine has no PostgreSQL (Debian: postgresql)');
      server = await PostgresServer.start(programs);
      database = server.url;
    }, 120_000);

    afterAll(async () => {
      await server?.stop();
    });

    beforeEach(() => {
      if (kind === 'PostgreSQL' && server === null) return pending('this machine has no PostgreSQL');
      folder = mkdtempSync(join(tmpdir(), 'tfjs-embeddings-store-'));
    });

    afterEach(() => {
      if (folder !== '') rmSync(folder, { recursive: true, force: true });
    });

    const open = (isWriter = true): Promise<EventStore> => openStore({ folder, database }, isWriter);

    it('keeps events in their order, once where they have a key, with what each user had before', async () => {
      const store = await open();
      expect(await store.lastId()).toBe(0);
      const first = await store.append(visits);
      expect(await store.append([{ user: 'bob', item: 'salt', key: 'first' }])).toBe(first);
      const last = await store.append([{ user: 'ann', item: 'tea' }]);
      expect(last).toBeGreaterThan(first);
      const events = await store.eventsAfter(0, 100);
      expect(events.map(({ user, item }) => ({ user, item }))).toEqual([
        ...visits.map(({ user, item }) => ({ user, item })),
        { user: 'ann', item: 'tea' },
      ]);
      expect(events.at(-1)!.id).toBe(last);
      expect(events.every(({ id }, i) => i === 0 || id > events[i - 1]!.id)).toBeTrue();
      expect(await store.eventsAfter(events[1]!.id, 2)).toEqual(events.slice(2, 4));
      expect(await store.lastId()).toBe(last);
      expect(await store.historiesOf(events, 2)).toEqual([
        [],
        [],
        ['tea'],
        ['milk', 'tea'],
        [],
        ['Äpfel \u{1f34e}', 'milk'],
      ]);
      expect(await store.historiesOf([], 2)).toEqual([]);
      expect(await store.historyOf('ann', 3)).toEqual(['tea', 'Äpfel \u{1f34e}', 'milk']);
      expect(await store.historyOf('nobody', 3)).toEqual([]);
      await store.close();
      const again = await open();
      expect(await again.eventsAfter(0, 100)).toEqual(events);
      await again.close();
    });

    it('keeps which batches were learned, each number once', async () => {
      const store = await open();
      const before = await store.batchesFrom(1, 10);
      const number = before.length + 1;
      await store.record({ number, after: 0, last: 3 });
      await store.record({ number: number + 1, after: 3, last: 5 });
      await expectAsync(store.record({ number, after: 0, last: 9 })).toBeRejected();
      expect(await store.batchesFrom(number, 10)).toEqual([
        { number, after: 0, last: 3 },
        { number: number + 1, after: 3, last: 5 },
      ]);
      expect(await store.batchesFrom(number, 1)).toEqual([{ number, after: 0, last: 3 }]);
      await store.close();
    });

    it('refuses a second writer, and takes it once the first has ended', async () => {
      const store = await open();
      await expectAsync(open()).toBeRejectedWithError(/another process/);
      const reader = await open(false);
      await store.append([visits[0]!]);
      expect((await reader.eventsAfter(0, 1000)).at(-1)!.item).toBe('tea');
      await reader.close();
      await store.close();
      await (await open()).close();
    });

    it('keeps what many ask for at a time, and fails the one that cannot be kept', async () => {
      const store = await open();
      const told: number[] = [];
      const queue = new AppendQueue(store, (last) => told.push(last));
      const spoilt = { user: 'ann', item: null as unknown as string };
      const asked = [visits.slice(0, 2), [visits[2]!, spoilt], [visits[3]!]].map((each) => queue.append(each));
      const ends = await Promise.allSettled(asked);
      expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      await queue.drained();
      const items = (await store.eventsAfter(0, 10_000)).slice(kind === 'SQLite' ? 0 : -1).map(({ item }) => item);
      expect(items.at(-1)).toBe(visits[3]!.item);
      if (kind === 'SQLite') expect(items).toEqual([visits[0]!, visits[1]!, visits[3]!].map(({ item }) => item));
      expect(told.length).toBeGreaterThan(0);
      await store.close();
    });
  });
}
