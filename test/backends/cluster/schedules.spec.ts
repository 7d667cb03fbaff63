// runner: servers
/**
 * Two trainers and two readers on two servers, in any order: what a client is told is what one process would have, or an
 * error that says what to do. TFJS_EMBEDDINGS_CLUSTER_SCHEDULES=200 draws more of them.
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

/** Numbers that a seed decides. */
function drawing(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return Math.floor((((state ^ (state >>> 16)) >>> 0) / 2 ** 32) * below) % below;
  };
}

class Schedule {
  /** What tables hold; null: they are lost, or there are none. */
  private now: State | null = null;
  private readonly saved = new Map<string, State>();
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
    const answer = await this.clients[who]!.ask(order);
    const isWell = answer.error === undefined;
    this.told.push(`${who} ${JSON.stringify(order)}: ${isWell ? 'done' : answer.error!.join(' ')}`);
    if (!isWell && !/^(RuntimeError|ValueError|TypeError)$/.test(answer.error![0])) this.fails('an error of no class');
    if (!isWell && !/restore|reconnect|replace|attach|readOnly|first|again|checkpoint/.test(answer.error![1])) {
      this.fails('an error that does not say what to do');
    }
    return { ...answer, isWell };
  }

  private fails(why: string): void {
    this.wrong.push(`seed ${this.seed}: ${why}\n${this.told.join('\n')}`);
  }

  private async connect(who: number): Promise<void> {
    const client = this.clients[who]!;
    const trainers = ['create', 'attach', 'attach', 'replace'] as const;
    const tables = client.isReader ? 'readOnly' : trainers[this.draw(this.now === null ? 4 : 3)]!;
    const { isWell } = await this.ask(who, { op: 'connect', name: this.name, tables });
    client.isConnected = isWell;
    if (!isWell || client.isReader || tables === 'attach') return;
    if (tables === 'create' && this.now !== null) return this.fails("'create' under a name in use");
    this.now = fresh();
  }

  private async look(who: number): Promise<void> {
    if (!this.clients[who]!.isConnected) return;
    const { table } = await this.ask(who, { op: 'look' });
    if (table === undefined) return;
    if (this.now === null) return this.fails(`values of tables that are lost: ${table.join(' ')}`);
    const wanted = this.now.table;
    if (table.some((value, i) => Math.abs(value - wanted[i]!) > 1e-5)) {
      this.fails(`${table.join(' ')} where one process has ${wanted.join(' ')}`);
    }
  }

  private async step(who: number): Promise<void> {
    const first = this.draw(ROWS);
    const rows = [...new Set([first, (first + 5) % ROWS, this.draw(ROWS)])];
    if (!(await this.ask(who, { op: 'step', rows })).isWell) return;
    if (this.now === null) return this.fails('a step of tables that are lost');
    this.now = stepped(this.now, rows);
  }

  private async assign(who: number): Promise<void> {
    const how = (['setWeights', 'assign', 'write'] as const)[this.draw(3)]!;
    const value = this.draw(9) - 4;
    const { isWell } = await this.ask(who, { op: 'assign', value, how });
    if (!isWell) return;
    if (this.clients[who]!.isReader) return this.fails('an assignment of a reader');
    // What lies on the host until tables are there is no value of a table.
    if (this.now === null) return;
    this.now = { ...copyOf(this.now), table: full(value) };
    await this.look(who);
  }

  private async save(who: number): Promise<void> {
    const prefix = join(this.folder, `${this.seed}-${this.draw(3)}`);
    if (!(await this.ask(who, { op: 'save', prefix })).isWell) return;
    if (this.now === null) return this.fails('a checkpoint of tables that are lost');
    this.saved.set(prefix, copyOf(this.now));
  }

  private async restore(who: number): Promise<void> {
    const prefix = [...this.saved.keys()][this.draw(Math.max(1, this.saved.size))];
    if (prefix === undefined) return this.save(who);
    if (!(await this.ask(who, { op: 'restore', prefix })).isWell) return;
    if (this.clients[who]!.isReader) return this.fails('a restore of a reader');
    this.now = copyOf(this.saved.get(prefix)!);
  }

  private async reconnect(who: number): Promise<void> {
    await this.ask(who, { op: 'reconnect' });
  }

  private async leave(who: number): Promise<void> {
    const op = this.draw(2) === 0 ? 'dispose' : 'close';
    await this.ask(who, { op });
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
    this.servers[which] = await ServerProcess.start(port);
    this.now = null;
  }
}

describe('Two trainers and two readers on two servers', () => {
  let servers: ServerProcess[] = [];
  const clients: Client[] = [];
  let folder = '';

  beforeAll(async () => {
    servers = await Promise.all([ServerProcess.start(), ServerProcess.start()]);
    const ps = servers.map(({ port }) => `127.0.0.1:${port}`);
    for (const isReader of [false, false, true, true]) clients.push(new Client(ps, isReader));
    folder = mkdtempSync(join(tmpdir(), 'schedules-'));
  }, 120_000);
  afterAll(async () => {
    for (const client of clients) client.end();
    await Promise.all(servers.map((server) => server.end()));
    rmSync(folder, { recursive: true, force: true });
  });

  for (let number = 0; number < SCHEDULES; number++) {
    it(`have what one process has, or are told what to do: schedule ${number}`, async () => {
      const schedule = new Schedule(SEED + number, servers, clients, folder, newClusterName());
      await schedule.run();
      if (schedule.wrong.length > 0) fail(schedule.wrong[0]);
      expect(schedule.told.length).toBeGreaterThan(EVENTS / 2);
    }, 600_000);
  }
});
