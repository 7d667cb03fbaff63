/** Events in a file of SQLite. */
import Database from 'libsql';
import { join } from 'node:path';
import { InputError } from '../../input_error.mjs';
import type { Event, NewEvent } from '../event.js';
import type { Batch, EventStore } from './event_store.js';

const TABLES = `
  CREATE TABLE IF NOT EXISTS events (
    id INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT NOT NULL, item TEXT NOT NULL, key TEXT UNIQUE
  );
  CREATE INDEX IF NOT EXISTS events_of_user ON events (user, id);
  CREATE TABLE IF NOT EXISTS batches (number INTEGER PRIMARY KEY, after INTEGER NOT NULL, last INTEGER NOT NULL);
`;

export class SqliteStore implements EventStore {
  readonly #database: Database.Database;
  readonly #lock: Database.Database | null;
  readonly #insert: Database.Statement;
  readonly #after: Database.Statement;
  readonly #before: Database.Statement;

  /** @param isWriter - Whether this is the one process that appends; its threads that read or record are not it. */
  constructor(folder: string, isWriter: boolean) {
    this.#lock = isWriter ? lockOf(folder) : null;
    this.#database = new Database(join(folder, 'events.sqlite'));
    // What is confirmed is on the disk.
    this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 10000;');
    this.#database.exec(TABLES);
    const prepare = (sql: string): Database.Statement => this.#database.prepare(sql);
    this.#insert = prepare('INSERT INTO events (user, item, key) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING');
    this.#after = prepare('SELECT id, user, item FROM events WHERE id > ? ORDER BY id LIMIT ?');
    this.#before = prepare('SELECT item FROM events WHERE user = ? AND id < ? ORDER BY id DESC LIMIT ?');
  }

  async append(events: readonly NewEvent[]): Promise<number> {
    const database = this.#database;
    database.exec('BEGIN IMMEDIATE');
    try {
      for (const { user, item, key = null } of events) this.#insert.run(user, item, key);
      database.exec('COMMIT');
    } catch (error) {
      if (database.inTransaction) database.exec('ROLLBACK');
      throw error;
    }
    return this.lastId();
  }

  async eventsAfter(id: number, limit: number): Promise<Event[]> {
    return (this.#after.all(id, limit) as Event[]).map(({ id: found, user, item }) => ({ id: found, user, item }));
  }

  async lastId(): Promise<number> {
    const found = this.#database.prepare('SELECT coalesce(max(id), 0) AS last FROM events').get();
    return (found as { last: number }).last;
  }

  async historiesOf(events: readonly Event[], length: number): Promise<string[][]> {
    return events.map(({ id, user }) => this.#itemsBefore(user, id, length));
  }

  async historyOf(user: string, length: number): Promise<string[]> {
    return this.#itemsBefore(user, Number.MAX_SAFE_INTEGER, length);
  }

  #itemsBefore(user: string, id: number, length: number): string[] {
    return (this.#before.all(user, id, length) as { item: string }[]).map(({ item }) => item);
  }

  async record({ number, after, last }: Batch): Promise<void> {
    this.#database.prepare('INSERT INTO batches (number, after, last) VALUES (?, ?, ?)').run(number, after, last);
  }

  async batchesFrom(number: number, limit: number): Promise<Batch[]> {
    const statement = this.#database.prepare(
      'SELECT number, after, last FROM batches WHERE number >= ? ORDER BY number LIMIT ?',
    );
    return (statement.all(number, limit) as Batch[]).map((each) => ({
      number: each.number,
      after: each.after,
      last: each.last,
    }));
  }

  async close(): Promise<void> {
    this.#database.close();
    this.#lock?.close();
  }
}

/** Held until it is closed, or the process ends however. */
function lockOf(folder: string): Database.Database {
  const lock = new Database(join(folder, 'writer.lock'));
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;');
  } catch (error) {
    lock.close();
    if ((error as { code?: string }).code !== 'SQLITE_BUSY') throw error;
    throw new InputError(`${folder} belongs to another process that runs: it can be followed by --follow`);
  }
  return lock;
}
