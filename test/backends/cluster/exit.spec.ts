// runner: servers
/** A program ends when it wants to, though its servers hang and calls are under way. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { WITH_SOURCES } from '../../helpers/programs.js';
import { ServerProcess } from '../../helpers/servers/server_process.js';

const PROGRAM = fileURLToPath(new URL('exit_program.ts', import.meta.url));
/** Milliseconds after which a program counts as one that never ends. */
const PATIENCE = 40_000;

interface Ended {
  readonly code: number | NodeJS.Signals | null;
  readonly output: string;
  readonly errors: string;
}

function run(way: string, servers: readonly ServerProcess[]): Promise<Ended> {
  const addresses = servers.map(({ port }) => `127.0.0.1:${port}`).join();
  const args = [...WITH_SOURCES, PROGRAM, way, addresses, servers.map(({ pid }) => pid).join()];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TF_CPP_MIN_LOG_LEVEL: '2' },
  });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (text: Buffer) => (output += text.toString()));
  child.stderr.on('data', (text: Buffer) => (errors += text.toString()));
  const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ code: code ?? signal, output, errors });
    });
  });
}

describe('A client of servers that hang', () => {
  let servers: ServerProcess[] = [];
  beforeAll(async () => {
    servers = await Promise.all([ServerProcess.start(), ServerProcess.start()]);
  }, 60_000);
  afterEach(() => servers.forEach((server) => server.signal('SIGCONT')));
  afterAll(() => Promise.all(servers.map((server) => server.end())));

  const SILENT = /no answer within 1500 ms/;
  for (const [way, how, code, said] of [
    ['end', 'ends when it has nothing more to do', 0, null],
    ['close', 'ends after it closed the cluster, which waits for the step', 0, null],
    ['exit', 'ends by process.exit', 7, null],
    ['saveAndExit', 'ends by process.exit while it saves', 7, null],
    ['lookup', 'ends after a lookup was given up', 0, SILENT],
    ['save', 'ends after a save was given up', 0, SILENT],
  ] as const) {
    it(
      how,
      async () => {
        const ended = await run(way, servers);
        expect(ended.output).withContext(ended.errors).toContain('servers hang');
        if (said !== null) expect(ended.output).toMatch(said);
        expect(ended.code).withContext(ended.errors).toBe(code);
      },
      PATIENCE + 20_000,
    );
  }
});
