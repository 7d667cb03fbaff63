/** Opens the events of a folder or a database. */
import type { EventStore } from './event_store.js';
import { PostgresStore } from './postgres_store.js';
import { SqliteStore } from './sqlite_store.js';

/** Where events are. `database` null: in the folder. */
export interface StorePlace {
  readonly folder: string;
  readonly database: string | null;
}

/** `isWriter`: whether this is the one process that appends. Throws InputError where there is another one. */
export async function openStore({ folder, database }: StorePlace, isWriter: boolean): Promise<EventStore> {
  return database === null ? new SqliteStore(folder, isWriter) : PostgresStore.connect(database, isWriter);
}
