/** An id outside its table, as the error that the caller sees. */
import { ValueError, described } from '../base/errors.js';

/** The row of a batch that holds such an id, where the batch was cut out of larger inputs: what finds it there. */
export interface BatchRow {
  /** The layer that took the batch, and as which of its inputs. */
  readonly layer: object;
  readonly input: number;
  /** Of one row. */
  readonly shape: readonly number[];
  readonly ids: readonly number[];
  /** Where the id stands in the row. */
  readonly position: number;
}

/** The position of the first id outside a table of so many rows; -1: all are in it. */
export function strayPosition(ids: Int32Array, rows: number): number {
  // The sign bit of an id below 0, and of what an id from `rows` on leaves of the last row; no branch per id.
  const last = (rows - 1) | 0;
  const { length } = ids;
  let signs = rows > 0 || length === 0 ? 0 : -1;
  for (let position = 0; position < length; position++) {
    const id = ids[position]!;
    signs |= id | (last - id);
  }
  return signs >= 0 ? -1 : ids.findIndex((id) => id < 0 || id >= rows);
}

/** What is known of such an id. */
export interface OutOfRangeId {
  readonly id: number;
  readonly rows: number;
  /** Its position among the flat ids that were looked up. */
  readonly position: number;
  /** Where the caller wrote it, such as `[2, 1]`; null where there is one id only. */
  readonly place: string | null;
  /** Whose table it misses, such as `layer embedding_1`; null: a tensor without a name. */
  readonly owner: string | null;
  readonly argument: string;
  readonly expected: string;
  readonly note: string | undefined;
  readonly batchRow: BatchRow | null;
}

function receivedText({ id, rows, place, owner }: OutOfRangeId): string {
  const where = place === null ? '' : ` at ${place}`;
  return `${id}${where} (${owner === null ? 'the table has' : `${owner}:`} ${rows} rows)`;
}

const DETAILS = Symbol.for('tfjs-embeddings.outOfRangeId');

/** The ValueError of such an id; it carries what is known, so that callers can add to it. */
export function outOfRangeError(details: OutOfRangeId): ValueError {
  const error = new ValueError(details.argument, details.expected, described(receivedText(details)), details.note);
  return Object.defineProperty(error, DETAILS, { value: details });
}

/** What is known of the id that an error is about; undefined where it is about something else. */
export function strayIdOf(error: unknown): OutOfRangeId | undefined {
  return error instanceof Error ? (error as { [DETAILS]?: OutOfRangeId })[DETAILS] : undefined;
}

/** The same error with what the caller's caller knows better; any other error as it is. */
export function withIdDetails(error: unknown, tell: (known: OutOfRangeId) => Partial<OutOfRangeId>): unknown {
  const details = strayIdOf(error);
  return details === undefined ? error : outOfRangeError({ ...details, ...tell(details) });
}

/** Runs a lookup; the error of an id outside the table gets what `tell` knows. */
export function addIdDetails<T>(run: () => T, tell: (known: OutOfRangeId) => Partial<OutOfRangeId>): T {
  try {
    return run();
  } catch (error) {
    throw withIdDetails(error, tell);
  }
}
