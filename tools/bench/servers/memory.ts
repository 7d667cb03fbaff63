/**
 * By how much a server grows over idle that holds tables and Adagrad's slots, beside what the plan says: when tables are
 * made, after a first step, and after steps. Megabytes; `anonymous` leaves out pages of programs, `peak` is the most.
 *   node --import tsx tools/bench/servers/memory.ts [--megabytes 1000] [--steps 50] [--batch 4096]
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { WITH_SOURCES } from '../../../test/helpers/programs.js';
import { ServerProcess } from '../../../test/helpers/servers/server_process.js';
import { Peer } from '../rivals/peer.js';
import { printLine } from '../stopwatch.js';
import type { Open } from './cluster_client.js';

const { values: given } = parseArgs({
  options: {
    megabytes: { type: 'string', default: '1000' },
    steps: { type: 'string', default: '50' },
    batch: { type: 'string', default: '4096' },
  },
});
const [TABLES, COLUMNS] = [10, 64];
const rows = Math.round((Number(given.megabytes) * 1e6) / (2 * TABLES * COLUMNS * 4));

const server = await ServerProcess.start();
const memory = (): { resident: number; anonymous: number; peak: number } => {
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8');
  const of = (name: string): number => (1024 * Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)![1])) / 1e6;
  return { resident: of('VmRSS'), anonymous: of('RssAnon'), peak: of('VmHWM') };
};
const client = await Peer.start('client', [
  process.execPath,
  ...WITH_SOURCES,
  fileURLToPath(new URL('cluster_client.ts', import.meta.url)),
]);
if (typeof client === 'string') throw new Error(client);
const ask = async (request: Parameters<Peer['ask']>[0]): Promise<void> => {
  const { error } = await client.ask(request);
  if (error !== undefined) throw new Error(error);
};
const idle = memory();
function tell(when: string, megabytes: number): void {
  const now = memory();
  const grown = now.resident - idle.resident;
  printLine({
    bench: 'memory of a server',
    when,
    planned: megabytes,
    resident: grown,
    anonymous: now.anonymous - idle.anonymous,
    peak: now.peak - idle.resident,
    ofPlan: grown / megabytes,
  });
}
const form = { exchange: 'float32', prefetch: 0, units: 1, batch: Number(given.batch), ids: 10 } as const;
const ps = [`127.0.0.1:${server.port}`];
const open: Open = { ...form, ps, name: 'memory', tables: TABLES, rows, columns: COLUMNS };
const planned = (TABLES * rows * COLUMNS * 4) / 1e6;
await ask({ do: 'open', ...open });
await ask({ do: 'lookUp', steps: 1 });
tell('tables made', planned);
await ask({ do: 'step', steps: 1 });
tell('one step', 2 * planned);
await ask({ do: 'step', steps: Number(given.steps) });
tell(`${given.steps} steps more`, 2 * planned);
client.stop();
await server.end();
process.exit();
