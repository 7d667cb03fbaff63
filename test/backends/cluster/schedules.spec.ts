// runner: servers
/**
 * Two trainers and two readers on two servers, in any order: what a client is told is what one process would have, or an
 * error that says what to do. Clients and servers are killed between events and in the middle of them: then all is well
 * that may have come of it. TFJS_EMBEDDINGS_CLUSTER_SCHEDULES=200 draws more of them.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WITH_SOURCES } from '../../helpers/programs.js';
import { casesOf } from '../../forms/forms.js';
import { newClusterName } from '../../helpers/servers/cluster.js';
import { ServerProcess } from '../../helpers/servers/server_process.js';
import type { Answer, Order } from './schedule_client.js';

const PROGRAM = fileURLToPath(new URL('schedule_client.ts', import.meta.url));
const SCHEDULES = casesOf('TFJS_EMBEDDINGS_CLUSTER_SCHEDULES');
const SEED = 1000 * Number(process.env['TFJS_EMBEDDINGS_TEST_SEED'] ?? 1);
const [ROWS, DIM, EVENTS] = [12, 2, 14];

/** A client in a process of its own. */
class Client {
  private readonly child: ChildProcess;
  private answered: ((answer: Answer) => void) | null = null;
  private readonly started: Promise<Answer>;
  isConnected = false;

  constructor(
    private readonly ps: readonly string[],
    readonly isReader: boolean,
  ) {
    this.child = fork(PROGRAM, [ps.join()], {
      execArgv: [...WITH_SOURCES],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      env: { ...process.env, TF_CPP_MIN_LOG_LEVEL: '3' },
    });
    this.started = new Promise((resolve) => (this.answered = resolve));
    this.child.on('message', (answer: Answer) => this.answered?.(answer));
    this.child.on('exit', (code) => this.answered?.({ error: ['exit', `the process ended with ${code}`] }));
  }

  async ask(order: Order): Promise<Answer> {
    await this.started;
    return new Promise((resolve) => {
      this.answered = resolve;
      this.child.send(order);
    });
  }

  /** Another process in its place. */
  killed(): Client {
    this.end();
    return new Client(this.ps, this.isReader);
  }

  end(): void {
    this.answered = null;
    this.child.kill('SIGKILL');
  }
}

/** The table and its accumulators. */
interface State {
  readonly table: Float32Array;
  readonly slot: Float32Array;
}

const full = (value: number): Float32Array => new Float32Array(ROWS * DIM).fill(value);
const fresh = (): State => ({ table: full(0.5), slot: full(0.25) });
const copyOf = ({ table, slot }: State): State => ({ table: table.slice(), slot: slot.slice() });

/** Adagrad by a gradient of -1, as one process would do it. */
function stepped({ table, slot }: State, rows: readonly number[]): State {
  const next = { table: table.slice(), slot: slot.slice() };
  for (const row of rows) {
    for (let column = 0; column < DIM; column++) {
      const at = row * DIM + column;
      next.slot[at]! += 1;
      next.table[at]! += 0.5 / Math.sqrt(next.slot[at]!);
    }
  }
  return next;
}

/** All that may be there when only some of these groups of rows have become what they were to become. */
function mixed(before: State, after: State, groups: readonly (readonly number[])[]): State[] {
  return groups.reduce<State[]>(
    (found, rows) =>
      found.flatMap((state) => {
        const next = copyOf(state);
        for (const row of rows) {
          const [from, to] = [row * DIM, (row + 1) * DIM];
          next.table.set(after.table.subarray(from, to), from);
          next.slot.set(after.slot.subarray(from, to), from);
        }
        return [state, next];
      }),
    [before],
  );
}

const ALL_ROWS = Array.from({ length: ROWS }, (_, row) => row);
/** What a server may hold of the rows: a half, or every other one. */
const CUTS = [(row: number) => row < ROWS / 2, (row: number) => row % 2 === 0].map((isFirst) => [
  ALL_ROWS.filter(isFirst),
  ALL_ROWS.filter((row) => !isFirst(row)),
]);

/** Numbers that a seed decides. */
function drawing(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return Math.floor((((state ^ (state >>> 16)) >>> 0) / 2 ** 32) * below) % below;
  };
}

class Schedule {
  /** What tables may hold; none: they are lost, or there are none. */
  private now: State[] = [];
  private readonly saved = new Map<string, State[]>();
  /** Whether a trainer has disposed them: they go with their last user. */
  private isDisposed = false;
  /** Events in whose middle somebody was killed. */
  cut = 0;
  readonly told: string[] = [];
  private readonly draw: (below: number) => number;
  readonly wrong: string[] = [];

  constructor(
    private readonly seed: number,
    private readonly servers: ServerProcess[],
    private readonly clients: Client[],
    private readonly folder: string,
    private readonly name: string,
  ) {
    this.draw = drawing(seed);
  }

  async run(): Promise<void> {
    await this.connect(0);
    for (let event = 0; event < EVENTS && this.wrong.length === 0; event++) await this.event();
    for (let client = 0; client < 4; client++) await this.look(client);
    for (const client of this.clients) {
      if (client.isConnected) await client.ask({ op: 'close' });
      client.isConnected = false;
    }
  }

  private async event(): Promise<void> {
    const who = this.draw(4);
    const client = this.clients[who]!;
    if (!client.isConnected) return this.connect(who);
    const trainer = client.isReader ? this.draw(2) : who;
    const isTraining = this.clients[trainer]!.isConnected;
    switch (this.draw(12)) {
      case 0:
      case 1:
      case 2:
        return isTraining ? this.step(trainer) : this.look(who);
      case 3:
        return this.assign(who);
      case 4:
        return this.save(who);
      case 5:
      case 6:
        return this.restore(who);
      case 7:
        return this.reconnect(who);
      case 8:
        return this.leave(who);
      case 9:
        return this.draw(2) === 0 ? this.killServer() : this.killClient(who);
      default:
        return this.look(who);
    }
  }

  /** Says what happened, and returns whether it went well; an error has to say what to do. */
  private async ask(who: number, order: Order): Promise<Answer & { readonly isWell: boolean }> {
    return this.note(who, order, await this.clients[who]!.ask(order));
  }

  private note(who: number, order: Order, answer: Answer): Answer & { readonly isWell: boolean } {
    const isWell = answer.error === undefined;
    this.told.push(`${who} ${JSON.stringify(order)}: ${isWell ? 'done' : answer.error!.join(' ')}`);
    if (!isWell && !/^(RuntimeError|ValueError|TypeError)$/.test(answer.error![0])) this.fails('an error of no class');
    if (!isWell && !/restore|reconnect|replace|attach|readOnly|first|again|checkpoint/.test(answer.error![1])) {
      this.fails('an error that does not say what to do');
    }
    return { ...answer, isWell };
  }

  /** The same, where the client or a server may be killed meanwhile: 'unknown' is what it came to then. */
  private async change(who: number, order: Order): Promise<'done' | 'refused' | 'unknown'> {
    const victim = (['client', 'server'] as const)[this.draw(6)];
    const after = this.draw(30);
    if (victim === undefined) return (await this.ask(who, order)).isWell ? 'done' : 'refused';
    this.cut += 1;
    const answer = this.clients[who]!.ask(order);
    await new Promise((resolve) => setTimeout(resolve, after));
    if (victim === 'client') {
      this.told.push(`${who} ${JSON.stringify(order)}: after ${after} ms`);
      await this.killClient(who);
      // What it has sent comes to an end.
      await new Promise((resolve) => setTimeout(resolve, 500));
      return 'unknown';
    }
    const lost = this.killServer();
    this.note(who, order, await answer);
    await lost;
    return 'unknown';
  }

  private fails(why: string): void {
    this.wrong.push(`seed ${this.seed}: ${why}\n${this.told.join('\n')}`);
  }

  private async connect(who: number): Promise<void> {
    const client = this.clients[who]!;
    const trainers = ['create', 'attach', 'attach', 'replace'] as const;
    const tables = client.isReader ? 'readOnly' : trainers[this.draw(this.now.length === 0 ? 4 : 3)]!;
    const { isWell } = await this.ask(who, { op: 'connect', name: this.name, tables });
    client.isConnected = isWell;
    if (!isWell || client.isReader || tables === 'attach') return;
    if (tables === 'create' && this.now.length > 0 && !this.isDisposed)
      return this.fails("'create' under a name in use");
    this.now = [fresh()];
    this.isDisposed = false;
  }

  private async look(who: number): Promise<void> {
    if (!this.clients[who]!.isConnected) return;
    const { table } = await this.ask(who, { op: 'look' });
    if (table === undefined) return;
    if (this.now.length === 0) return this.fails(`values of tables that are lost: ${table.join(' ')}`);
    const possible = this.now.filter((state) => table.every((value, i) => Math.abs(value - state.table[i]!) <= 1e-5));
    if (possible.length > 0) this.now = possible;
    else
      this.fails(
        `${table.join(' ')} where one process has ${this.now.map((each) => each.table.join(' ')).join(' or ')}`,
      );
  }

  private async step(who: number): Promise<void> {
    const first = this.draw(ROWS);
    const rows = [...new Set([first, (first + 5) % ROWS, this.draw(ROWS)])];
    const end = await this.change(who, { op: 'step', rows });
    if (end === 'refused') return;
    if (end === 'done' && this.now.length === 0) return this.fails('a step of tables that are lost');
    const groups = rows.map((row) => [row]);
    this.now = this.now.flatMap((state) => {
      return end === 'done' ? [stepped(state, rows)] : mixed(state, stepped(state, rows), groups);
    });
  }

  private async assign(who: number): Promise<void> {
    const how = (['setWeights', 'assign', 'write'] as const)[this.draw(3)]!;
    const value = this.draw(9) - 4;
    const { isReader } = this.clients[who]!;
    const end = await this.change(who, { op: 'assign', value, how });
    if (end === 'refused') return;
    if (isReader && end === 'done') return this.fails('an assignment of a reader');
    // What lies on the host until tables are there is no value of a table.
    if (this.now.length === 0 || isReader) return;
    const assigned = (state: State): State => ({ ...copyOf(state), table: full(value) });
    this.now = this.now.flatMap((state) =>
      end === 'done' ? [assigned(state)] : CUTS.flatMap((cut) => mixed(state, assigned(state), cut)),
    );
    await this.look(who);
  }

  private async save(who: number): Promise<void> {
    const prefix = join(this.folder, `${this.seed}-${this.draw(3)}`);
    const before = this.now;
    const end = await this.change(who, { op: 'save', prefix });
    if (end === 'refused') return;
    if (end === 'done' && before.length === 0) return this.fails('a checkpoint of tables that are lost');
    const known = end === 'done' ? [] : (this.saved.get(prefix) ?? []);
    if (before.length + known.length > 0) this.saved.set(prefix, [...known, ...before].map(copyOf));
  }

  private async restore(who: number): Promise<void> {
    const prefix = [...this.saved.keys()][this.draw(Math.max(1, this.saved.size))];
    if (prefix === undefined) return this.save(who);
    const { isReader } = this.clients[who]!;
    const servers = [...this.servers];
    const end = await this.change(who, { op: 'restore', prefix });
    if (end === 'refused') return;
    if (isReader && end === 'done') return this.fails('a restore of a reader');
    if (isReader) return;
    const restored = this.saved.get(prefix)!.map(copyOf);
    if (end === 'done') this.now = restored;
    // All of it or nothing, as nobody gets values in between; and none where a server was lost in its middle.
    else if (servers.every((server, i) => server === this.servers[i])) this.now = [...this.now, ...restored];
  }

  private async reconnect(who: number): Promise<void> {
    await this.ask(who, { op: 'reconnect' });
  }

  private async leave(who: number): Promise<void> {
    const op = this.draw(2) === 0 ? 'dispose' : 'close';
    await this.ask(who, { op });
    this.isDisposed ||= op === 'dispose' && !this.clients[who]!.isReader;
    this.clients[who]!.isConnected = false;
  }

  private killClient(who: number): Promise<void> {
    this.told.push(`${who} is killed`);
    this.clients[who] = this.clients[who]!.killed();
    return Promise.resolve();
  }

  private async killServer(): Promise<void> {
    const which = this.draw(2);
    const { port } = this.servers[which]!;
    this.told.push(`server ${which} is killed, and starts anew`);
    this.servers[which]!.signal('SIGKILL');
    await this.servers[which]!.ended;
    this.now = [];
    this.servers[which] = await ServerProcess.start(port);
  }
}

describe('Two trainers and two readers on two servers', () => {
  let servers: ServerProcess[] = [];
  const clients: Client[] = [];
  let folder = '';
  let cuts = 0;

  beforeAll(async () => {
    servers = await Promise.all([ServerProcess.start(), ServerProcess.start()]);
    const ps = servers.map(({ port }) => `127.0.0.1:${port}`);
    for (const isReader of [false, false, true, true]) clients.push(new Client(ps, isReader));
    folder = mkdtempSync(join(tmpdir(), 'schedules-'));
  }, 120_000);
  afterAll(async () => {
    for (const client of clients) client.end();
    await Promise.all(servers.map((server) => server.end()));
    if (SCHEDULES > 20) console.log(`${cuts} events in whose middle a client or a server was killed`);
    rmSync(folder, { recursive: true, force: true });
  });

  for (let number = 0; number < SCHEDULES; number++) {
    it(`have what one process has, or are told what to do: schedule ${number}`, async () => {
      const schedule = new Schedule(SEED + number, servers, clients, folder, newClusterName());
      await schedule.run();
      if (schedule.wrong.length > 0) fail(schedule.wrong[0]);
      expect(schedule.told.length).toBeGreaterThan(EVENTS / 2);
      cuts += schedule.cut;
    }, 600_000);
  }
});
