/** Where events are kept, and which of them each step of training learned. */
import type { Event, NewEvent } from '../event.js';

/** The events of a step of training: those after `after`, up to `last`. Numbers begin at 1. */
export interface Batch {
  readonly number: number;
  readonly after: number;
  readonly last: number;
}

/** One process writes at a time; a second one is refused. Whatever a promise has confirmed outlives the process. */
export interface EventStore {
  /** Keeps events, in this order, all or none; returns the highest id that there is. */
  append(events: readonly NewEvent[]): Promise<number>;
  /** The next events, in order of their ids. */
  eventsAfter(id: number, limit: number): Promise<Event[]>;
  /** The highest id that there is; 0: there are no events. */
  lastId(): Promise<number>;
  /** For each event the items that its user had before it, the newest first, at most `length`. */
  historiesOf(events: readonly Event[], length: number): Promise<string[][]>;
  /** The items that a user had, the newest first, at most `length`. */
  historyOf(user: string, length: number): Promise<string[]>;
  /** Keeps what a step will learn, before it does. */
  record(batch: Batch): Promise<void>;
  /** The recorded batches from a number on, in their order. */
  batchesFrom(number: number, limit: number): Promise<Batch[]>;
  close(): Promise<void>;
}
