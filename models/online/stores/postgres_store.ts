/** Events in PostgreSQL. */
import pg from 'pg';
import { InputError } from '../../input_error.mjs';
import type { Event, NewEvent } from '../event.js';
import type { Batch, EventStore } from './event_store.js';

const TABLES = `
  CREATE TABLE IF NOT EXISTS events (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "user" text NOT NULL, item text NOT NULL, key text UNIQUE
  );
  CREATE INDEX IF NOT EXISTS events_of_user ON events ("user", id);
  CREATE TABLE IF NOT EXISTS batches (number bigint PRIMARY KEY, after bigint NOT NULL, last bigint NOT NULL);
`;
/** Of the lock that the process which writes holds: any number that nobody else takes. */
const WRITER = 7_405_012;

export class PostgresStore implements EventStore {
  readonly #client: pg.Client;

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  /** `isWriter`: whether this is the one process that appends. */
  static async connect(url: string, isWriter: boolean): Promise<PostgresStore> {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      if (isWriter) {
        const { rows } = await client.query<{ held: boolean }>('SELECT pg_try_advisory_lock($1) AS held', [WRITER]);
        if (!rows[0]!.held) throw new InputError('the database belongs to another process that runs');
        await client.query(TABLES);
      }
    } catch (error) {
      await client.end().catch(() => {});
      if (error instanceof InputError) throw error;
      const { message, code } = error as NodeJS.ErrnoException;
      throw new InputError(`the database cannot be used: ${message || code}`);
    }
    return new PostgresStore(client);
  }

  async append(events: readonly NewEvent[]): Promise<number> {
    // One writer, one statement at a time: ids ascend in the order in which they can be seen.
    await this.#client.query(
      `INSERT INTO events ("user", item, key) SELECT * FROM unnest($1::text[], $2::text[], $3::text[])
       ON CONFLICT (key) DO NOTHING`,
      [events.map(({ user }) => user), events.map(({ item }) => item), events.map(({ key = null }) => key)],
    );
    return this.lastId();
  }

  async eventsAfter(id: number, limit: number): Promise<Event[]> {
    const { rows } = await this.#client.query<{ id: string; user: string; item: string }>(
      'SELECT id, "user", item FROM events WHERE id > $1 ORDER BY id LIMIT $2',
      [id, limit],
    );
    return rows.map((row) => ({ id: Number(row.id), user: row.user, item: row.item }));
  }

  async lastId(): Promise<number> {
    const { rows } = await this.#client.query<{ last: string }>('SELECT coalesce(max(id), 0) AS last FROM events');
    return Number(rows[0]!.last);
  }

  async historiesOf(events: readonly Event[], length: number): Promise<string[][]> {
    const { rows } = await this.#client.query<{ place: string; item: string }>(
      `SELECT asked.place, had.item
       FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS asked (id, "user", place)
       CROSS JOIN LATERAL (
         SELECT events.id, item FROM events
         WHERE events."user" = asked."user" AND events.id < asked.id ORDER BY events.id DESC LIMIT $3
       ) AS had
       ORDER BY asked.place, had.id DESC`,
      [events.map(({ id }) => id), events.map(({ user }) => user), length],
    );
    const found = events.map((): string[] => []);
    for (const { place, item } of rows) found[Number(place) - 1]!.push(item);
    return found;
  }

  async historyOf(user: string, length: number): Promise<string[]> {
    const { rows } = await this.#client.query<{ item: string }>(
      'SELECT item FROM events WHERE "user" = $1 ORDER BY id DESC LIMIT $2',
      [user, length],
    );
    return rows.map(({ item }) => item);
  }

  async record({ number, after, last }: Batch): Promise<void> {
    await this.#client.query('INSERT INTO batches (number, after, last) VALUES ($1, $2, $3)', [number, after, last]);
  }

  async batchesFrom(number: number, limit: number): Promise<Batch[]> {
    const { rows } = await this.#client.query<Record<keyof Batch, string>>(
      'SELECT number, after, last FROM batches WHERE number >= $1 ORDER BY number LIMIT $2',
      [number, limit],
    );
    return rows.map((row) => ({ number: Number(row.number), after: Number(row.after), last: Number(row.last) }));
  }

  async close(): Promise<void> {
    await this.#client.end();
  }
}
