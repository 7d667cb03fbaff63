/** Starting, removing and starting again. */
import * as tf from '@tensorflow/tfjs';
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { backendInfo, currentBackend, registeredBackend } from '../../../src/backends/registry.js';
import { running } from '../../../src/backends/emulator/register.js';
import { BACKEND_NAME } from '../../../src/backends/emulator/settings.js';
import { RuntimeError } from '../../../src/base/errors.js';
import { skipOrFail } from '../../helpers/backends.js';
import { Random } from '../../helpers/random.js';
import { lookUp, stepSgd } from '../cpu/steps.js';
import { HOSTS, emulator, loadHost, startEmulator, stopEmulator } from './describe_emulator.js';
import { LAYOUT_NAMES, layoutOf, numbersOf, place } from './tables.js';
import { WITH_DIST } from '../../helpers/programs.js';

const SIZE = { rows: 4, columns: 3 };
const VALUES = Float32Array.from({ length: 12 }, (_, i) => i);

function tableOn(devices: number): tf.Variable {
  return place(layoutOf(devices === 1 ? 'whole' : 'columns', SIZE, devices, new Random(1)), VALUES);
}

/** Runs a program of this package in a process of its own and returns what it prints. */
function printed(code: string): string {
  const root = fileURLToPath(new URL('../../../', import.meta.url));
  const args = [...WITH_DIST, '--input-type=module', '-e', code];
  return execFileSync(process.execPath, args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}

for (const host of HOSTS) {
  describe(`an emulator [${host}]`, () => {
    let before: string;
    let tensors: number;
    let missing: string | null = null;
    beforeAll(async () => {
      await tf.ready();
      before = tf.getBackend();
      missing = await loadHost(host);
    });
    beforeEach(() => {
      if (missing !== null) skipOrFail(missing);
      tensors = tf.memory().numTensors;
    });
    afterEach(async () => {
      await stopEmulator(before);
      if (missing === null) expect(tf.memory().numTensors).toBe(tensors);
    });

    it('starts again and again with other settings', async () => {
      for (const [chips, coresPerChip, hbmBytesPerChip] of [
        [1, 1, null],
        [4, 2, 1e6],
        [3, 1, 999],
        [2, 8, null],
      ] as const) {
        // prettier-ignore
        await startEmulator({ chips, coresPerChip, hbmBytesPerChip, host });
        expect(tf.getBackend()).toBe(BACKEND_NAME);
        expect(running()!.host).toBe(host);
        expect(emulator().count).toBe(chips * coresPerChip);
        expect(currentBackend().store.devices!.count).toBe(chips * coresPerChip);
        const table = tableOn(chips * coresPerChip);
        stepSgd(table, [0, 3, 3]);
        expect(numbersOf(table)).toEqual([-1, 0, 1, 3, 4, 5, 6, 7, 8, 7, 8, 9]);
        table.dispose();
        tf.removeBackend(BACKEND_NAME);
        expect(running()).toBeNull();
      }
    });

    it('runs dense ops on the host, whose own backend goes on', async () => {
      await startEmulator({ chips: 2, coresPerChip: 1, host });
      const here = tf.tensor2d([[1, 2], [3, 4]]); // prettier-ignore
      const product = here.matMul(here);
      expect(numbersOf(product)).toEqual([7, 10, 15, 22]);
      await tf.setBackend(host);
      const there = tf.tensor2d([[1, 0], [0, 2]]); // prettier-ignore
      const mixed = here.matMul(there);
      expect(numbersOf(mixed)).toEqual([1, 4, 3, 8]);
      await tf.setBackend(BACKEND_NAME);
      const back = mixed.add(there);
      expect(numbersOf(back)).toEqual([2, 4, 3, 10]);
      tf.dispose([here, product, there, mixed, back]);
    });

    it('that was removed leaves tensors that say so, and that can be disposed', async () => {
      await startEmulator({ chips: 3, coresPerChip: 1, host });
      const old = tableOn(3);
      const kept = old.clone();
      const other = tableOn(3);
      tf.removeBackend(BACKEND_NAME);
      const text = /the running tpu-emulator.*one that was removed/;
      await tf.setBackend('cpu');
      expect(() => old.dataSync()).toThrowError(RuntimeError, text);
      await expectAsync(old.data()).toBeRejectedWithError(RuntimeError, text);
      expect(() => tf.tidy(() => old.add(1))).toThrowError(RuntimeError, text);
      await startEmulator({ chips: 2, coresPerChip: 1, host });
      const fresh = tableOn(2);
      expect(() => old.dataSync()).toThrowError(RuntimeError, text);
      expect(() => tf.tidy(() => tf.matMul(old as unknown as tf.Tensor2D, tf.ones([3, 1])))).toThrowError(
        RuntimeError,
        text,
      );
      expect(() => lookUp(old, [1])).toThrowError(RuntimeError, text);
      expect(() => stepSgd(other, [1])).toThrowError(RuntimeError, text);
      const clone = (): tf.Tensor => tf.tidy(() => old.clone().add(0));
      expect(clone).toThrowError(RuntimeError, text);
      tf.dispose([old, kept, other]);
      stepSgd(fresh, [1]);
      expect(numbersOf(fresh).slice(3, 6)).toEqual([2, 3, 4]);
      fresh.dispose();
    });

    it('that was removed leaves tensors of the host apart from those of the next', async () => {
      await startEmulator({ chips: 2, coresPerChip: 1, host });
      const old = Array.from({ length: 20 }, (_, i) => tf.fill([3], i));
      await startEmulator({ chips: 2, coresPerChip: 1, host });
      const fresh = Array.from({ length: 20 }, (_, i) => tf.tidy(() => tf.fill([3], 100 + i).add(0)));
      tf.dispose(old);
      fresh.forEach((tensor, i) => {
        expect(tf.tidy(() => numbersOf(tensor.add(1)))).toEqual([101 + i, 101 + i, 101 + i]);
      });
      tf.dispose(fresh);
    });

    it('can give its tables to another backend before it is removed', async () => {
      await startEmulator({ chips: 3, coresPerChip: 1, host });
      const tables = LAYOUT_NAMES.map((name) => place(layoutOf(name, SIZE, 3, new Random(1)), VALUES));
      await tf.setBackend('cpu');
      for (const table of tables) table.add(0).dispose();
      tf.removeBackend(BACKEND_NAME);
      for (const table of tables) expect(numbersOf(table)).toEqual([...VALUES]);
      tf.dispose(tables);
    });
  });
}

describe('the emulator and tfjs', () => {
  it('is never chosen where another backend is there', () => {
    const code = `
      const tf = await import('@tensorflow/tfjs');
      const emb = await import('./dist/index.mjs');
      await tf.ready();
      const factories = tf.engine().registryFactory;
      const lowest = Object.entries(factories).sort(([, a], [, b]) => a.priority - b.priority)[0][0];
      console.log(tf.getBackend(), lowest, 'tpu-emulator' in factories, emb.backendInfo().backend);
    `;
    expect(printed(code)).toBe('cpu tpu-emulator true cpu');
  });

  it('cannot be used before it is set', async () => {
    await tf.ready();
    expect(running()).toBeNull();
    expect(() => registeredBackend(BACKEND_NAME)!.store).toThrowError(
      RuntimeError,
      /await tf\.setBackend\('tpu-emulator'\)/,
    );
    expect(() => registeredBackend(BACKEND_NAME)!.info('EmbeddingBag')).toThrowError(RuntimeError);
  });

  it('says what runs', async () => {
    const before = tf.getBackend();
    await startEmulator({ chips: 2, coresPerChip: 1, host: 'cpu' });
    const { backend, kernels } = backendInfo();
    expect(backend).toBe(BACKEND_NAME);
    expect(kernels['EmbeddingBag']).toEqual(running()!.machine.set.devices[0]!.kernels);
    await stopEmulator(before);
  });

  it('does not start on a host that is not there, and the next start is not in its way', async () => {
    const before = tf.getBackend();
    const warn = spyOn(console, 'warn');
    await expectAsync(startEmulator({ host: 'abacus' })).toBeRejected();
    expect(warn.calls.allArgs().flat().join(' ')).toMatch(/ValueError.*`host`: expected one of .*received "abacus"/s);
    expect(warn.calls.allArgs().flat().join(' ')).not.toMatch(/expected one of [^"]*tpu-emulator/);
    expect(running()).toBeNull();
    await startEmulator({ chips: 1, coresPerChip: 1, host: 'cpu' });
    expect(emulator().count).toBe(1);
    await stopEmulator(before);
  });
});
