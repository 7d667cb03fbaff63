/** What the emulator can be told, and what it says to bad input. */
import { configure, emulatorSettings } from '../../../src/backends/emulator/settings.js';
import { RuntimeError } from '../../../src/base/errors.js';
import { expectError } from '../../helpers/errors.js';

const VARIABLES = ['CHIPS', 'CORES_PER_CHIP', 'HBM_BYTES', 'TIMEOUT_MS'].map((name) => `TFJS_EMBEDDINGS_TPU_${name}`);
const DEFAULTS = {
  chips: 4,
  coresPerChip: 2,
  hbmBytesPerChip: null,
  devices: 'auto' as const,
  threadsPerDevice: 1,
  timeoutMs: 10_000,
  host: null,
};

describe('settings of the emulator', () => {
  let environment: Record<string, string | undefined>;
  beforeEach(() => {
    environment = Object.fromEntries(VARIABLES.map((name) => [name, process.env[name]]));
    for (const name of VARIABLES) delete process.env[name];
    configure({}, false);
  });
  afterEach(() => {
    for (const [name, value] of Object.entries(environment)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    configure({}, false);
  });

  it('are 4 chips of 2 cores without a limit where nothing is said', () => {
    expect(emulatorSettings()).toEqual(DEFAULTS);
    configure({}, false);
    expect(emulatorSettings()).toEqual(DEFAULTS);
  });

  it('are taken as given, and replaced as a whole', () => {
    const given = {
      chips: 2,
      coresPerChip: 3,
      hbmBytesPerChip: 1e9,
      devices: 'inline',
      threadsPerDevice: 4,
      timeoutMs: 500,
      host: 'cpu',
    };
    configure(given, false);
    expect(emulatorSettings()).toEqual(given as never);
    configure({ chips: 5, devices: undefined }, false);
    expect(emulatorSettings()).toEqual({ ...DEFAULTS, chips: 5 });
    configure({ hbmBytesPerChip: null, host: null }, false);
    expect(emulatorSettings()).toEqual(DEFAULTS);
  });

  it('come from the environment where nothing was configured', () => {
    process.env['TFJS_EMBEDDINGS_TPU_CHIPS'] = '3';
    process.env['TFJS_EMBEDDINGS_TPU_CORES_PER_CHIP'] = '1';
    process.env['TFJS_EMBEDDINGS_TPU_HBM_BYTES'] = '1e6';
    process.env['TFJS_EMBEDDINGS_TPU_TIMEOUT_MS'] = '7000';
    expect(emulatorSettings()).toEqual({
      ...DEFAULTS,
      chips: 3,
      coresPerChip: 1,
      hbmBytesPerChip: 1e6,
      timeoutMs: 7000,
    });
    configure({ chips: 8, hbmBytesPerChip: null }, false);
    expect(emulatorSettings()).toEqual({ ...DEFAULTS, chips: 8, coresPerChip: 1, timeoutMs: 7000 });
    process.env['TFJS_EMBEDDINGS_TPU_CORES_PER_CHIP'] = '';
    expect(emulatorSettings().coresPerChip).toBe(2);
  });

  it('name a variable of the environment that is not right', () => {
    for (const name of VARIABLES) {
      for (const value of ['0', '-1', '1.5', 'many', '8 ', 'Infinity', 'NaN', '0x', '1e999', ' ']) {
        if (Number.isSafeInteger(Number(value)) && Number(value) > 0) continue;
        process.env[name] = value;
        expectError(emulatorSettings, 'ValueError', name, JSON.stringify(value));
      }
      delete process.env[name];
    }
    process.env['TFJS_EMBEDDINGS_TPU_CHIPS'] = '1000000';
    expectError(emulatorSettings, 'ValueError', 'chips', '1000000');
  });

  const wrongTypes: Record<string, unknown[]> = {
    chips: ['4', true, {}, [4], 4n],
    coresPerChip: ['2', false, {}],
    hbmBytesPerChip: ['1e9', {}, true],
    threadsPerDevice: ['1', {}],
    timeoutMs: ['1s', {}, true],
    devices: [3, {}, true],
    host: [3, {}, true],
  };
  const wrongValues: Record<string, unknown[]> = {
    chips: [0, -1, 1.5, NaN, Infinity, 1025],
    coresPerChip: [0, -2, 0.5, 4096],
    hbmBytesPerChip: [0, -1, 1.5, NaN, Infinity],
    threadsPerDevice: [0, 65, 1.5],
    timeoutMs: [0, -1, 0.5, NaN, Infinity, 2 ** 31],
    devices: ['', 'thread', 'Worker'],
    host: ['', 'tpu-emulator'],
  };

  for (const [field, values] of Object.entries(wrongTypes)) {
    it(`refuse other types: ${field}`, () => {
      for (const value of values) expectError(() => configure({ [field]: value }, false), 'TypeError', field);
      expect(emulatorSettings()).toEqual(DEFAULTS);
    });
  }

  for (const [field, values] of Object.entries(wrongValues)) {
    it(`refuse other values: ${field}`, () => {
      for (const value of values) expectError(() => configure({ [field]: value }, false), 'ValueError', field);
      expect(emulatorSettings()).toEqual(DEFAULTS);
    });
  }

  it('refuse too many devices in all, misspelt fields and what is no object', () => {
    expectError(() => configure({ chips: 600, coresPerChip: 2 }, false), 'ValueError', 'chips', '600 x 2');
    expectError(() => configure({ cores: 2 }, false), 'ValueError', 'cores');
    expectError(() => configure({ cores_per_chip: 2 }, false), 'ValueError', 'cores_per_chip');
    for (const value of [null, undefined, 3, 'inline', [], new Map()]) {
      expectError(() => configure(value, false), 'TypeError', 'args');
    }
    expect(emulatorSettings()).toEqual(DEFAULTS);
  });

  it('cannot be changed while the machine runs', () => {
    expect(() => configure({ chips: 2 }, true)).toThrowError(RuntimeError, /removeBackend\('tpu-emulator'\)/);
    expectError(() => configure({ chips: 0 }, true), 'ValueError', 'chips');
    expect(emulatorSettings()).toEqual(DEFAULTS);
  });
});
