/** An id outside its table, as the error that the caller sees. */
import { ValueError, described } from '../errors.js';

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

/** What is known of such an id. */
export interface Stray {
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

function told({ id, rows, place, owner }: Stray): string {
  const where = place === null ? '' : ` at ${place}`;
  return `${id}${where} (${owner === null ? 'the table has' : `${owner}:`} ${rows} rows)`;
}

const STRAY = Symbol.for('tfjs-embeddings.stray');

/** The ValueError that tells of such an id; it carries what is known, for whoever knows more. */
export function strayIdError(stray: Stray): ValueError {
  const error = new ValueError(stray.argument, stray.expected, described(told(stray)), stray.note);
  return Object.defineProperty(error, STRAY, { value: stray });
}

/** The same error with what the caller's caller knows better; any other error as it is. */
export function retold(error: unknown, tell: (stray: Stray) => Partial<Stray>): unknown {
  const stray = error instanceof Error ? (error as { [STRAY]?: Stray })[STRAY] : undefined;
  return stray === undefined ? error : strayIdError({ ...stray, ...tell(stray) });
}

/** Runs a lookup; of an id outside the table it says what `tell` knows. */
export function tellingStrays<T>(run: () => T, tell: (stray: Stray) => Partial<Stray>): T {
  try {
    return run();
  } catch (error) {
    throw retold(error, tell);
  }
}
