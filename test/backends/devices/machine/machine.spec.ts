/** Steps that devices take while the host goes on. */
import * as tf from '@tensorflow/tfjs';
import { NEUTRAL_HYPER, packHyper } from '../../../../src/rules/hyper.js';
import type { Addon } from '../../../../src/backends/native/addon.js';
import { running } from '../../../../src/backends/emulator/register.js';
import { BACKEND_NAME } from '../../../../src/backends/emulator/settings.js';
import { Random } from '../../../helpers/random.js';
import { skipOrFail } from '../../../helpers/backends.js';
import { SUM } from '../../cpu/steps.js';
import { emulator, loadHost, startEmulator, stopEmulator } from '../../emulator/describe_emulator.js';
import { layoutOf, place } from '../../emulator/tables.js';
import { tableOf } from '../../../../src/backends/table.js';

const [ROWS, COLUMNS] = [6, 4];

describe('a step on devices that are workers', () => {
  let before: string;
  let missing: string | null = null;

  beforeAll(async () => {
    await tf.ready();
    before = tf.getBackend();
    missing = await loadHost('tensorflow');
  }, 60_000);
  afterAll(() => stopEmulator(before));
  beforeEach(async () => {
    if (missing !== null) return skipOrFail(missing);
    await startEmulator({ chips: 2, coresPerChip: 1, host: 'tensorflow', devices: 'worker', timeoutMs: 400 });
  });

  const table = (): tf.Variable =>
    place(layoutOf('columns', { rows: ROWS, columns: COLUMNS }, 2, new Random(3)), new Float32Array(ROWS * COLUMNS));

  /** Takes 1 from row 2, by a gradient that TensorFlow holds. */
  function step(stepped: tf.Variable): void {
    tf.tidy(() => {
      const bags = { values: tf.tensor1d([2], 'int32'), rowSplits: tf.tensor1d([0, 1], 'int32'), weights: null };
      const gradient = tf.ones([1, COLUMNS]).mul(1) as tf.Tensor2D;
      const hyper = packHyper({ ...NEUTRAL_HYPER, learningRate: 1 });
      const entries = [{ gradient, bags, options: SUM }];
      emulator().update([{ optimizer: 'sgd', table: tableOf(stepped), slots: [], entries, dense: null, hyper }]);
    });
  }

  /** Keys under which gradients were shared since it was called. */
  function keysOf(addon: Addon): () => number[] {
    const keys = spyOn(addon, 'newSharedTensorKey').and.callThrough();
    return () => keys.calls.all().map(({ returnValue }) => returnValue as unknown as number);
  }

  const isShared = (addon: Addon, key: number): boolean => {
    try {
      addon.readSharedTensor(key, 0, 1, 1, 1, new Float32Array(1));
      return true;
    } catch {
      return false;
    }
  };

  it('is seen by all that comes after it', () => {
    const stepped = table();
    for (let n = 1; n <= 50; n++) {
      step(stepped);
      if (n % 3 === 0) step(stepped);
      const rows = [...stepped.dataSync()];
      const times = n + Math.floor(n / 3);
      expect(rows.slice(2 * COLUMNS, 3 * COLUMNS)).toEqual(new Array<number>(COLUMNS).fill(-times));
      expect(rows.reduce((sum, value) => sum + value, 0)).toBe(-times * COLUMNS);
    }
    stepped.dispose();
  });

  it('keeps its gradient until devices are done with it', () => {
    const { machine } = running()!;
    const addon = machine.set.addon as Addon;
    const stepped = table();
    step(stepped); // the first sharing is tried out here
    machine.settle();
    const keys = keysOf(addon);
    step(stepped);
    expect(keys().length).toBeGreaterThan(0);
    expect(keys().every((key) => isShared(addon, key))).toBeTrue();
    machine.settle();
    expect(keys().some((key) => isShared(addon, key))).toBeFalse();
    stepped.dispose();
  });

  it('that hangs is an error for whoever needs the devices next', () => {
    const { machine } = running()!;
    const addon = machine.set.addon as Addon;
    const stepped = table();
    step(stepped);
    machine.settle();
    machine.set.devices[1]!.injectFault('hang');
    const keys = keysOf(addon);
    step(stepped);
    const message = /`device 1`: expected a device that does its work, received it gave no sign of life for 0.4 s/;
    expect(() => stepped.dataSync()).toThrowError(message);
    expect(keys().some((key) => isShared(addon, key))).toBeFalse();
    for (const use of [() => step(stepped), () => stepped.dataSync(), () => table()]) expect(use).toThrowError(message);
    stepped.dispose();
  });

  it('that a device does not take leaves nothing shared', () => {
    const { machine } = running()!;
    const addon = machine.set.addon as Addon;
    const stepped = table();
    step(stepped);
    machine.settle();
    const keys = keysOf(addon);
    const post = spyOn(machine.set.devices[1]!, 'post').and.throwError('no room');
    expect(() => step(stepped)).toThrowError('no room');
    expect(keys().length).toBeGreaterThan(0);
    expect(keys().some((key) => isShared(addon, key))).toBeFalse();
    post.and.callThrough();
    stepped.dispose();
  });

  it('under way as the backend is removed leaves nothing shared', async () => {
    const { machine } = running()!;
    const addon = machine.set.addon as Addon;
    const stepped = table();
    const keys = keysOf(addon);
    step(stepped);
    stepped.dispose();
    tf.removeBackend(BACKEND_NAME);
    await machine.close();
    expect(keys().length).toBeGreaterThan(0);
    expect(keys().some((key) => isShared(addon, key))).toBeFalse();
  });
});
