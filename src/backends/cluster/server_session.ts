/** A session on one server: groups of calls that go at the same time, group after group. */
import { AS_WRITTEN, RunOptions, SessionConfig } from './server_messages.js';
import type { ServerCall } from './server_call.js';
import { constant, FLOAT, ServerGraph } from './server_graph.js';
import type { Addon, RunResult } from '../native/addon.js';

/** What the addon does for sessions. */
export type SessionFunctions = Pick<
  Addon,
  'openSession' | 'extendSession' | 'closeSession' | 'startRuns' | 'finishRuns' | 'finishRunsAsync' | 'forgetRuns'
>;

/** Codes of TensorFlow. */
const [CANCELLED, DEADLINE_EXCEEDED, NOT_FOUND, FAILED_PRECONDITION, ABORTED, UNAVAILABLE] = [1, 4, 5, 9, 10, 14];

/** Why a call of a server failed. */
export class ServerError extends Error {
  constructor(
    readonly code: number,
    text: string,
  ) {
    super(text);
    this.name = 'ServerError';
  }

  /** Whether the server has not heard of an op. */
  get isUnknownOp(): boolean {
    return this.code === NOT_FOUND && this.message.includes('Op type not registered');
  }

  /** Whether no answer came: the server is gone, was started anew, or was too late. */
  get isSilence(): boolean {
    return [CANCELLED, DEADLINE_EXCEEDED, ABORTED, UNAVAILABLE].includes(this.code);
  }

  /** Whether a variable is not there. */
  get isMissing(): boolean {
    return this.code === NOT_FOUND || this.code === FAILED_PRECONDITION;
  }
}

/** Where a server is, and how it is called. */
export interface ServerPlace {
  readonly host: string;
  readonly port: number;
  readonly job: string;
  readonly task: number;
  /** Milliseconds that a call may take. */
  readonly timeoutMs: number;
}

interface Group {
  /** Who waits for it. */
  readonly owner: object;
  readonly number: number;
  readonly calls: readonly ServerCall[];
  readonly timeoutMs: number;
}

/** An address as it is written. */
export function addressOf({ host, port }: Pick<ServerPlace, 'host' | 'port'>): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** A value that stands for none. */
export const NO_FLOATS = 'no_floats';

export class ServerSession {
  readonly graph = new ServerGraph([constant(NO_FLOATS, FLOAT, [0], new Float32Array(0))]);
  /** Bytes of values, without what messages add. */
  sent = 0;
  received = 0;
  calls = 0;
  private readonly config: Uint8Array;
  private number: number;
  private groups: Group[] = [];
  /** What waits until all that is to go in one call is there; null: nothing waits. */
  private held: Omit<Group, 'number'>[] | null = null;

  /** Contacts nobody: the first call does. */
  constructor(
    private readonly functions: SessionFunctions,
    readonly place: ServerPlace,
  ) {
    const { job, task, timeoutMs } = place;
    this.config = SessionConfig.encode({
      // Else the first call waits for all members of the server's cluster.
      deviceFilters: [`/job:${job}/task:${task}`],
      graphOptions: AS_WRITTEN,
      operationTimeoutInMs: timeoutMs,
    });
    this.number = this.open();
  }

  /**
   * Starts calls that go at the same time, after those that were started before. `owner`: who waits for them. Each may
   * take `timeoutMs`.
   */
  start(given: readonly ServerCall[], owner: object = this, timeoutMs = this.place.timeoutMs): void {
    const calls = given.filter((call) => !call.isEmpty);
    for (const call of given) if (call.isEmpty) call.take([], []);
    if (calls.length === 0) return;
    if (this.held === null) this.send({ owner, calls, timeoutMs });
    else this.held.push({ owner, calls, timeoutMs });
  }

  /** Has what is started from now on wait for `release`, or for whoever waits for it, so that more may go with it. */
  hold(): void {
    this.held ??= [];
  }

  release(): void {
    const held = this.held ?? [];
    this.held = null;
    for (const group of held) this.send(group);
  }

  /** The call that others may join, which is the last that waits; null: there is none, or it has others beside it. */
  get joint(): ServerCall | null {
    const last = this.held?.at(-1);
    return last?.calls.length === 1 ? last.calls[0]! : null;
  }

  private send({ owner, calls, timeoutMs }: Omit<Group, 'number'>): void {
    const added = this.graph.takeAdded();
    if (added !== null) this.functions.extendSession(this.number, added.definition, added.mapped);
    const options = RunOptions.encode({ timeoutInMs: timeoutMs });
    const runs = calls.map((call) => call.run(options));
    const number = this.functions.startRuns(this.number, runs);
    for (const { sent } of calls) this.sent += sent;
    this.calls += calls.length;
    this.groups.push({ owner, number, calls, timeoutMs });
  }

  /**
   * Waits for all that was started for `owner`, and hands over what came. Throws ServerError for the first call that
   * failed.
   */
  finish(owner: object = this): void {
    const groups = this.take(owner);
    let failed: ServerError | null = null;
    for (const group of groups) {
      const results = this.functions.finishRuns(
        group.number,
        group.calls.map(({ into }) => into),
      );
      failed ??= this.hand(group, results);
    }
    if (failed !== null) throw failed;
  }

  /** The same without waiting for it here. */
  async finishLater(owner: object = this): Promise<void> {
    const groups = this.take(owner);
    let failed: ServerError | null = null;
    for (const group of groups) {
      const results = await this.functions.finishRunsAsync(group.number);
      failed ??= this.hand(group, results);
    }
    if (failed !== null) throw failed;
  }

  /** One call, until it has ended. */
  call(call: ServerCall): void {
    this.start([call], call);
    this.finish(call);
  }

  private take(owner: object): Group[] {
    this.release();
    const own = this.groups.filter((group) => group.owner === owner);
    this.groups = this.groups.filter((group) => group.owner !== owner);
    return own;
  }

  /** Another session with the same graph; what was started and not finished is given up. */
  reopen(): void {
    this.close();
    this.number = this.open();
  }

  private open(): number {
    const { host, port } = this.place;
    const target = `grpc://${addressOf(this.place)}`;
    return this.functions.openSession(target, this.config, this.graph.whole(), host, port);
  }

  /** Never waits for the server. What was started and is not waited for is given up, else its session would stay. */
  close(): void {
    this.functions.closeSession(this.number);
    for (const { number } of this.groups) this.functions.forgetRuns(number);
    this.groups = [];
    this.held = null;
  }

  private hand({ calls, timeoutMs }: Group, results: readonly RunResult[]): ServerError | null {
    const wrong = results.find(({ code }) => code !== 0);
    if (wrong !== undefined) return new ServerError(wrong.code, explained(wrong, timeoutMs));
    calls.forEach((call, i) => {
      const { values, shapes } = results[i]!;
      this.received += call.take(values, shapes);
    });
    return null;
  }
}

function explained({ code, message }: RunResult, timeoutMs: number): string {
  if (code === DEADLINE_EXCEEDED) return `no answer within ${timeoutMs} ms; whether it did the work is unknown`;
  if (code === UNAVAILABLE) return `it is gone: ${message}`;
  // TensorFlow sends a call again whose answer it lost, and servers refuse the second one.
  if (code === ABORTED && message.includes('received twice')) {
    return `its answer was lost; whether it did the work is unknown: ${message}`;
  }
  if (code === ABORTED) return `it was started anew, and its tables are lost: ${message}`;
  // Which node it was says nothing here, where they have numbers.
  return message
    .replace(/^From \/job:[^\n]*:\n/, '')
    .replace(/\s*\[\[\{\{node [^}]*\}\}\]\]/g, '')
    .trim()
    .replace(/\.$/, '');
}
