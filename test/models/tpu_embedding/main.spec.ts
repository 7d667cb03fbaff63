/** The two tables by both TPU embedding APIs, as a process and as its command line. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { InputError } from '../../../models/input_error.mjs';
import { HELP, readOptions } from '../../../models/tpu_embedding/options.mjs';
import { WITH_DIST } from '../../helpers/programs.js';

const MAIN = fileURLToPath(new URL('../../../models/tpu_embedding/main.ts', import.meta.url));

async function run(...args: string[]): Promise<{ code: number | null; lines: string[]; stderr: string }> {
  const child = spawn(process.execPath, [...WITH_DIST, MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, lines: stdout.trimEnd().split('\n'), stderr };
}

/**
 * The table `video` after one step of Adagrad by hand: gradients of activations a are 2 a / 16, and rows [0, 1] and [1]
 * of samples get their sums.
 */
function videoAfterOneStep(): string[] {
  const ids = [[0], [0, 1], [0, 1], [1], [0, 1], [1], [0], [0, 1]];
  const summed = [0, 0];
  for (const row of ids) {
    const activation = row.reduce((sum, id) => sum + id, 0);
    for (const id of row) summed[id]! += (2 * activation) / 16;
  }
  return summed.map((gradient, row) => (row - (0.1 * gradient) / Math.sqrt(0.1 + gradient ** 2)).toFixed(4));
}

describe('the model of two tables', () => {
  const byDefault = jasmine.DEFAULT_TIMEOUT_INTERVAL;
  beforeAll(() => (jasmine.DEFAULT_TIMEOUT_INTERVAL = 120_000)); // each run is a process
  afterAll(() => (jasmine.DEFAULT_TIMEOUT_INTERVAL = byDefault));

  it('prints queues, shapes and the tables of one step, on two devices', async () => {
    const { code, lines, stderr } = await run('--devices', '2', '--steps', '1');
    expect(code).withContext(stderr).toBe(0);
    const shapes = 'watched [4, 4], favorited [4, 4], friends [4, 2]';
    expect(lines.slice(0, 4)).toEqual([
      'TPUEmbedding',
      'step 1: enqueue; the queue training holds 1',
      `step 1: dequeue; the queue training holds 0; ${shapes}`,
      'step 1: applyGradients; loss 6.5000',
    ]);
    expect(lines).toContain('step 1: enqueue; user_video has 20 ids of 12 samples, 16 pointers');
    expect(lines).toContain(`step 1: dequeue; ${shapes}`);
    expect(lines).toContain('stack user_video [32, 8]');
    videoAfterOneStep().forEach((value, row) => {
      const line = `  video[${row}] = ${[value, value, value, value].join(' ')}`;
      expect(lines.filter((each) => each === line).length)
        .withContext(line)
        .toBe(2);
    });
    expect(lines.at(-1)).toMatch(/^tables of both: the same, at most \d\.\de[+-]\d+ apart$/);
  });

  it('enqueues one batch ahead, and both APIs come to the same tables and losses', async () => {
    const { code, lines, stderr } = await run('--steps', '5');
    expect(code).withContext(stderr).toBe(0);
    expect(lines.slice(1, 3)).toEqual([
      'step 1: enqueue; the queue training holds 1',
      'step 2: enqueue; the queue training holds 2',
    ]);
    const losses = lines.filter((line) => line.includes('applyGradients'));
    expect(losses.length).toBe(10);
    expect(losses.slice(0, 5)).toEqual(losses.slice(5));
    const values = losses.slice(0, 5).map((line) => Number(line.split(' ').at(-1)));
    expect(values).toEqual([...values].sort((a, b) => b - a));
    const rows = lines.filter((line) => line.startsWith('  '));
    expect(rows.length).toBe(16);
    expect(rows.slice(0, 8)).toEqual(rows.slice(8));
  });

  it('has its options in the help, and defaults', () => {
    for (const flag of ['devices', 'steps']) expect(HELP).toContain(`--${flag} N`);
    expect(readOptions([])).toEqual({ devices: 4, steps: 2 });
    expect(readOptions(['--devices', '1', '--steps', '7'])).toEqual({ devices: 1, steps: 7 });
  });

  const mistakes: [string[], RegExp][] = [
    [['--devices', '3'], /^--devices must be one of 1, 2, 4, not "3"$/],
    [['--steps', '0'], /^--steps must be a whole number from 1 to 1000, not "0"$/],
    [['--step', '1'], /Unknown option '--step'.*--help/],
  ];
  for (const [args, text] of mistakes) {
    it(`names a mistake: ${args.join(' ')}`, () => {
      expect(() => readOptions(args)).toThrowError(InputError, text);
    });
  }
});
