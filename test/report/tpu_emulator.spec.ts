import * as emb from 'tfjs-embeddings';
import { expectError } from '../helpers/errors.js';
import { withTpuEmulator } from '../helpers/tpu_emulator.js';

describe('the running emulator', () => {
  it('is none before it was started', () => {
    expectError(() => emb.tpuEmulator(), 'RuntimeError', 'tpuEmulator', 'none');
    expect(() => emb.tpuEmulator()).toThrowError(/await tf\.setBackend\('tpu-emulator'\)/);
  });

  it('takes faults of its own devices, under known names', async () => {
    await withTpuEmulator({ chips: 3 }, () => {
      const emulator = emb.tpuEmulator();
      expect(emulator.devices).toBe(3);
      const inject = (device: unknown, fault: unknown) => () => emulator.injectFault(device as number, fault as 'hang');
      for (const device of [-1, 3, 0.5, NaN]) {
        expectError(inject(device, 'hang'), 'ValueError', 'device', String(device));
      }
      expect(inject(3, 'hang')).toThrowError(/a device, 0 to 2/);
      expectError(inject('0', 'hang'), 'TypeError', 'device', '0');
      expectError(inject(2, 'fire'), 'ValueError', 'fault', 'fire');
      expectError(inject(2, 1), 'TypeError', 'fault', '1');
      for (const name of ['terminate', 'kernelError', 'outOfMemory', 'hang']) {
        expect(inject(2, 'fire')).toThrowError(new RegExp(`\\b${name}\\b`));
      }
    });
  });

  it('counts what devices did, and from zero again', async () => {
    await withTpuEmulator({ chips: 2 }, () => {
      const emulator = emb.tpuEmulator();
      const layer = emb.layers.embedding({ inputDim: 8, outputDim: 4, combiner: 'sum', name: 'words' });
      const [result] = [layer.apply(emb.RaggedTensor.fromRows([[1, 2], [3]]) as never)].flat() as unknown as {
        dispose: () => void;
      }[];
      result!.dispose();
      expect(emulator.counters().lookUps).toBe(1);
      expect(String(emulator.report())).toContain('words');
      emulator.resetCounters();
      expect(emulator.counters().lookUps).toBe(0);
      layer.dispose();
    });
  });
});
