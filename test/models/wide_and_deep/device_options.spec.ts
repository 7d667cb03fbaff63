/** Options about devices. */
import { tmpdir } from 'node:os';
import { InputError } from '../../../models/input_error.mjs';
import { HELP, readOptions } from '../../../models/wide_and_deep/options.mjs';

const EMULATOR = ['--backend', 'tpu-emulator'];

describe('options about devices', () => {
  it('are not there without devices, but the model is the same', () => {
    const { onDevices, placement } = readOptions(['--backend', 'cpu']);
    expect(onDevices).toBeNull();
    expect(placement).toEqual(readOptions(EMULATOR).placement);
    expect(readOptions([]).onDevices).toBeNull();
  });

  it('have defaults', () => {
    const { onDevices, placement } = readOptions(EMULATOR);
    expect(onDevices).toEqual({ devices: 8, reloadDevices: 3, deviceMemory: null, host: null, report: null });
    expect(placement).toEqual({
      strategy: 'cost_balanced',
      columnSliceThreshold: null,
      rowSliceThreshold: null,
      dataParallelThreshold: null,
    });
  });

  it('load on another number of devices than they train on', () => {
    for (const devices of [1, 2, 3, 4, 8]) {
      const { onDevices } = readOptions([...EMULATOR, '--devices', String(devices)]);
      expect(onDevices!.devices).toBe(devices);
      expect(onDevices!.reloadDevices).not.toBe(devices);
    }
  });

  it('are read', () => {
    const given =
      '--devices 4 --reload-devices 5 --device-memory 1000000 --host wasm --strategy basic --column-slice 100 ' +
      '--row-slice 200 --data-parallel 0 --report out.html';
    const { onDevices, placement } = readOptions([...EMULATOR, ...given.split(' ')]);
    expect(onDevices).toEqual({
      devices: 4,
      reloadDevices: 5,
      deviceMemory: 1_000_000,
      host: 'wasm',
      report: 'out.html',
    });
    expect(placement).toEqual({
      strategy: 'basic',
      columnSliceThreshold: 100,
      rowSliceThreshold: 200,
      dataParallelThreshold: 0,
    });
  });

  const flags = 'devices reload-devices device-memory host strategy column-slice row-slice data-parallel report';
  for (const flag of flags.split(' ')) {
    it(`--${flag} stands in the help and needs the emulator`, () => {
      expect(HELP).toContain(`--${flag} `);
      const text = new RegExp(`^--${flag} needs --backend tpu-emulator$`);
      expect(() => readOptions([`--${flag}`, '8'])).toThrowError(InputError, text);
      expect(() => readOptions([`--${flag}`, '8', '--backend', 'tensorflow'])).toThrowError(InputError, text);
    });
  }

  const mistakes: [string, string, RegExp][] = [
    ['--devices', '0', /^--devices must be a whole number from 1 to 1024, not "0"$/],
    ['--devices', 'eight', /--devices must be a whole number/],
    ['--devices', '2.5', /--devices must be a whole number/],
    ['--reload-devices', '2000', /--reload-devices must be a whole number from 1 to 1024/],
    ['--device-memory', '0', /--device-memory must be a whole number/],
    ['--host', 'webgl', /^--host must be one of tensorflow, wasm, cpu, not "webgl"$/],
    ['--strategy', 'best', /^--strategy must be one of basic, memory_balanced, memory_optimized, cost_balanced, not/],
    ['--column-slice', '-1', /--column-slice must be a whole number|ambiguous/],
    ['--row-slice', '', /--row-slice must be a whole number/],
    ['--data-parallel', '1e99', /--data-parallel must be a whole number/],
    ['--report', '', /--report must be the name of a file/],
    ['--report', tmpdir(), /--report must be the name of a file, not/],
    ['--report', 'package.json/report.html', /--report must be the name of a file, not .*package.json is no folder/],
  ];
  for (const [flag, value, text] of mistakes) {
    it(`name a mistake: ${flag} "${value}"`, () => {
      expect(() => readOptions([...EMULATOR, flag, value])).toThrowError(InputError, text);
    });
  }
});
