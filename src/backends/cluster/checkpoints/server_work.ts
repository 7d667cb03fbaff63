/** Long work on servers: rounds of calls, one after the other on each server, while JavaScript goes on. */
import { RuntimeError, described } from '../../../base/errors.js';
import type { RunningCluster } from '../register.js';
import type { ServerCall } from '../server_call.js';
import { ServerError } from '../server_session.js';

/** Calls that go at the same time, and how much of the work they are. */
export interface Round {
  readonly calls: readonly ServerCall[];
  readonly weight: number;
}

/** Rounds as they come: what a later one needs of an earlier one is there. */
export type Rounds = Iterable<Round>;

/** A part of the work. Calls may take longer than others. */
export interface WorkOptions {
  readonly timeoutMs: number;
  /** Takes the part of all work that is done, up to 1; null: nobody asks. */
  readonly onProgress: ((done: number) => void) | null;
}

/** An error of a call, which server it came from. */
export class ServerFailure extends Error {
  constructor(
    readonly server: string,
    override readonly cause: ServerError,
  ) {
    super(cause.message);
    this.name = 'ServerFailure';
  }

  /** The error that users get. */
  toError(expected: string, note?: string): RuntimeError {
    return new RuntimeError(this.server, expected, described(this.message), note);
  }
}

export function failureOf(error: unknown, { machine }: RunningCluster, device: number): unknown {
  return error instanceof ServerError ? new ServerFailure(machine.form.nameOf(device), error) : error;
}

/** How much of some work is done. */
export class Progress {
  private done = 0;

  constructor(
    private readonly whole: number,
    private readonly report: WorkOptions['onProgress'],
  ) {}

  add(weight: number): void {
    this.done += weight;
    this.report?.(Math.min(1, this.done / this.whole));
  }
}

/** Runs the rounds of each server; all servers work at the same time. Throws ServerFailure for the first that fails. */
export async function workLater(
  cluster: RunningCluster,
  work: readonly Rounds[],
  { timeoutMs }: WorkOptions,
  progress: Progress | null,
): Promise<void> {
  const ends = await Promise.allSettled(
    work.map(async (rounds, device) => {
      const { session } = cluster.settings.devices[device]!;
      try {
        for (const { calls, weight } of rounds) {
          session.start(calls, rounds, timeoutMs);
          await session.finishLater(rounds);
          progress?.add(weight);
        }
      } catch (error) {
        throw failureOf(error, cluster, device);
      }
    }),
  );
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** One call of one server. */
export function oneCall(
  cluster: RunningCluster,
  device: number,
  call: ServerCall,
  options: WorkOptions,
): Promise<void> {
  const work = cluster.settings.devices.map((_, each): Rounds =>
    each === device ? [{ calls: [call], weight: 0 }] : [],
  );
  return workLater(cluster, work, options, null);
}

/** Throws RuntimeError where this client may not have the values of a table, or where a server does not say so. */
export function admitAll({ settings }: RunningCluster, tables: readonly string[]): void {
  const { membership, devices } = settings;
  try {
    for (const table of tables) membership.admit(table);
  } catch (error) {
    if (!(error instanceof ServerError)) throw error;
    membership.doubt();
    for (const { session } of devices) session.reopen();
    const note = 'The next call asks again. Where tables are lost, who trains them calls restore(prefix).';
    throw new RuntimeError('servers', 'servers that answer', described(error.message), note);
  }
}
