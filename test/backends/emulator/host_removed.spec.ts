/** A host that is removed under a running emulator is a clear error, never a wrong number. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import { WITH_SOURCES } from '../../helpers/programs.js';
import { running } from '../../../src/backends/emulator/register.js';
import { BACKEND_NAME, configure } from '../../../src/backends/emulator/settings.js';
import { skipOrFail } from '../../helpers/backends.js';
import { HOSTS, loadHost } from './describe_emulator.js';

const PROGRAM = fileURLToPath(new URL('./host_removed_program.ts', import.meta.url));

interface Outcome {
  readonly missing?: string;
  readonly first: string;
  readonly later: Record<string, string>;
  readonly dispose: string;
  readonly again: number[] | null;
  readonly expected: number[] | null;
}

describe('an emulator whose host is removed', () => {
  for (const host of HOSTS) {
    for (const moment of ['in a step', 'in fit']) {
      it(`says so: ${host}, ${moment}`, () => {
        const stdout = execFileSync(process.execPath, [...WITH_SOURCES, PROGRAM, host, moment], {
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'ignore'],
        });
        const { missing, first, later, dispose, again, expected } = JSON.parse(
          stdout.trimEnd().split('\n').at(-1)!,
        ) as Outcome;
        if (missing !== undefined) return skipOrFail(missing);
        const error =
          `RuntimeError: \`host\`: expected the backend ${host}, on which dense ops run, received one that was removed. ` +
          "tf.removeBackend('tpu-emulator') and tf.setBackend start new devices, on another host.";
        expect(first).toBe(error);
        expect(later).toEqual(Object.fromEntries(Object.keys(later).map((what) => [what, error])));
        expect(Object.keys(later).length).toBe(8);
        expect(dispose).toBe('nothing');
        expect(again).toEqual(expected);
      });
    }
  }

  it('says so as it starts', async () => {
    await tf.ready();
    await loadHost('cpu');
    const before = tf.getBackend();
    const backend = tf.findBackend('cpu');
    if (running() !== null) tf.removeBackend(BACKEND_NAME);
    const workers: unknown[] = [];
    const count = (worker: unknown): void => void workers.push(worker);
    process.on('worker', count);
    // tfjs tells of a failed start on the console alone.
    const warn = spyOn(console, 'warn');
    try {
      configure({ chips: 2, coresPerChip: 1, devices: 'worker', host: 'cpu' }, false);
      const start = tf.setBackend(BACKEND_NAME);
      while (workers.length < 2) await new Promise((resolve) => setImmediate(resolve));
      tf.removeBackend('cpu');
      expect(await start).toBeFalse();
      expect(running()).toBeNull();
      const said = warn.calls.allArgs().flat().map(String).join('\n');
      expect(said).toContain('expected the backend cpu, on which dense ops run, received one that was removed');
    } finally {
      process.off('worker', count);
      tf.registerBackend('cpu', () => backend);
      configure({}, false);
      await tf.setBackend(before);
    }
  });
});
