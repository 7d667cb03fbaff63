/**
 * Every benchmark, as JSON lines: `npm run bench`, or `npm run bench -- lookup` for those whose name holds a text.
 * Options after a name go to that benchmark. Rivals run beside ours: stock tfjs always, torch where `python3` has it. Compare lines of one run only.
 * `npm run bench -- --rivals PYTHON` is another program, `rivals/main.ts`: all rivals in turns, one table of ratios.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { WITH_SOURCES } from '../../test/helpers/programs.js';

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

interface Benchmark {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
}

function hasTorch(): boolean {
  return spawnSync('python3', ['-c', 'import torch'], { stdio: 'ignore' }).status === 0;
}

const tsx = (file: string): Benchmark['command'] => [process.execPath, ...WITH_SOURCES, here(file)];
const BENCHMARKS: readonly Benchmark[] = [
  { name: 'kernels', command: tsx('kernels.ts') },
  { name: 'torch', command: ['python3', here('torch_bag.py')] },
  { name: 'lookup', command: tsx('lookup.ts') },
  { name: 'step', command: tsx('step.ts') },
  { name: 'whole step', command: tsx('whole_step.ts') },
  { name: 'gpu', command: tsx('gpu.ts') },
  { name: 'tensorBoard', command: tsx('tensor_board.ts') },
  { name: 'own functions', command: tsx('own_functions.ts') },
  { name: 'devices', command: tsx('devices.ts') },
  { name: 'sparse_core', command: tsx('sparse_core.ts') },
  { name: 'loopback', command: tsx('servers/loopback.ts') },
  { name: 'cluster', command: tsx('servers/cluster.ts') },
  { name: 'export', command: tsx('export.ts') },
  { name: 'data', command: tsx('data.ts') },
  { name: 'preprocessing', command: tsx('preprocessing.ts') },
  { name: 'python step', command: tsx('python/step.ts') },
  { name: 'topK', command: tsx('ranking/top_k.ts') },
  { name: 'neighbours', command: tsx('ranking/neighbours.ts') },
  { name: 'open tables', command: tsx('tables/open_tables.ts') },
  { name: 'disk tables', command: tsx('tables/disk_tables.ts') },
  { name: 'negatives', command: tsx('ranking/negatives.ts') },
  { name: 'personal', command: tsx('pages/personal.ts') },
  { name: 'demo', command: tsx('pages/demo.ts') },
];

const given = process.argv.slice(2);
const firstOption = given.findIndex((text) => text.startsWith('--'));
const patterns = firstOption < 0 ? given : given.slice(0, firstOption);
/** Those after a name are for the benchmarks of that name. */
const options = firstOption < 0 ? [] : given.slice(firstOption);
if (options.length > 0 && patterns.length === 0) {
  await import('./rivals/main.js');
  process.exit();
}
const chosen = BENCHMARKS.filter(({ name }) => patterns.length === 0 || patterns.some((text) => name.includes(text)));
if (chosen.length === 0) {
  console.error(`no benchmark is called so; there are: ${BENCHMARKS.map(({ name }) => name).join(', ')}`);
  process.exitCode = 1;
}
for (const { name, command } of chosen) {
  if (name === 'torch' && !hasTorch()) {
    console.error('torch: left out, python3 has no torch');
    continue;
  }
  console.error(`${name} ...`);
  const [program, ...args] = command;
  const { status } = spawnSync(program, [...args, ...options], { stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) process.exitCode = 1;
}
