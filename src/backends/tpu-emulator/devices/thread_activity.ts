/** What the system says of a thread of this process. */
import type * as fs from 'node:fs';
import { nodeBuiltin } from '../../../node_builtin.js';

export interface ThreadActivity {
  /** R: runs or waits for a core; S: sleeps; D: waits for a disk. */
  readonly state: string;
  /** Processor time that it has used. */
  readonly milliseconds: number;
}

/** Linux counts in hundredths of a second for programs, whatever its clock. */
const TICK_MS = 10;

/** Returns a function that looks at a thread; it gives null where the system does not tell. */
export function activityOf(thread: number): () => ThreadActivity | null {
  const files = thread > 0 ? nodeBuiltin<typeof fs>('node:fs') : null;
  if (files === null) return () => null;
  return () => {
    try {
      return parseStat(files.readFileSync(`/proc/self/task/${thread}/stat`, 'latin1'));
    } catch {
      return null;
    }
  };
}

/** The name of the thread, in parentheses, may hold anything. Fields after it: state, then times as 12th and 13th. */
export function parseStat(text: string): ThreadActivity | null {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  const [state] = fields;
  return state === undefined || Number.isNaN(ticks) ? null : { state, milliseconds: ticks * TICK_MS };
}
