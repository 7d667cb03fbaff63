/** The wide-and-deep example with its tables by the TPU embedding API. */
import { InputError } from '../../../models/input_error.mjs';
import { HELP, readOptions } from '../../../models/wide_and_deep/options.mjs';
import { LearningRate } from '../../../models/wide_and_deep/training.js';
import type { Outcome } from '../program.js';
import { learnableCsv, runMain, scratchFolder } from './program.js';

interface Report {
  backend: string;
  api: string;
  testError: number;
  auc: number;
  reloadedEqual: boolean;
  reloadedOn: number[];
  devices: number;
  strategy: null;
  plan: null;
  counters: { elements: number[] };
  exportedEqual?: Record<'tfjsNode' | 'python', number | null>;
}

function reportOf({ code, stdout, stderr }: Outcome): Report {
  expect(code).withContext(stderr).toBe(0);
  return JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as Report;
}

describe('npm start --api tpu-v1, tpu-v2', () => {
  const folder = scratchFolder();
  const bags = folder.write('bags.csv', learnableCsv(600));
  const withoutTags = learnableCsv(600)
    .split('\n')
    .map((line) =>
      line
        .split(',')
        .filter((_, i) => i !== 2)
        .join(),
    );
  const single = folder.write('single.csv', withoutTags.join('\n'));
  const byDefault = jasmine.DEFAULT_TIMEOUT_INTERVAL;
  beforeAll(() => (jasmine.DEFAULT_TIMEOUT_INTERVAL = 240_000)); // each run starts processes
  afterAll(() => (jasmine.DEFAULT_TIMEOUT_INTERVAL = byDefault));
  afterAll(() => folder.remove());
  const start = (data: string, devices: number, api = 'tpu-v1', ...more: string[]): Promise<Outcome> => {
    const machine = ['--host', 'cpu', '--devices', String(devices)];
    return runMain('--api', api, '--data', data, '--epochs', '20', '--batch', '32', '--json', ...machine, ...more);
  };
  let runs: Record<'onOne' | 'onEight' | 'stacked', Promise<Outcome>>;
  // Side by side: each of them waits for the processes that it starts.
  beforeAll(() => {
    runs = {
      onOne: start(bags, 1),
      onEight: start(single, 8),
      stacked: start(single, 8, 'tpu-v2', '--export', `${folder.path}/exported`),
    };
  });

  it('learns bags too on one device, and reloads the same bits there', async () => {
    const outcome = await runs.onOne;
    const report = reportOf(outcome);
    expect([report.backend, report.api, report.devices]).toEqual(['tpu-emulator', 'tpu-v1', 1]);
    expect([report.strategy, report.plan]).toEqual([null, null]);
    expect(report.testError).toBeLessThan(0.1);
    expect(report.auc).toBeGreaterThan(0.95);
    expect(report.reloadedOn).toEqual([1, 3]);
    expect(outcome.stdout).toContain('on 1 device: the same predictions to the bit');
    expect(outcome.stdout).toMatch(/on 3 devices: (the same predictions to the bit|at most \d\.\de-\d+ apart)/);
  });

  it('learns on eight devices, all of which are read, and reloads the same bits there and on three', async () => {
    const report = reportOf(await runs.onEight);
    expect(report.testError).toBeLessThan(0.2); // what the tags say is not there
    expect([report.reloadedEqual, report.reloadedOn]).toEqual([true, [8, 3]]);
    expect(report.counters.elements.length).toBe(8);
    expect(Math.min(...report.counters.elements)).toBeGreaterThan(0);
  });

  it('learns in stacks on SparseCores, reloads the same bits on as many and on three, and is exported', async () => {
    const outcome = await runs.stacked;
    const report = reportOf(outcome);
    expect([report.backend, report.api, report.devices]).toEqual(['tpu-emulator', 'tpu-v2', 8]);
    expect(report.testError).toBeLessThan(0.2);
    expect([report.reloadedEqual, report.reloadedOn]).toEqual([true, [8, 3]]);
    expect(outcome.stdout).toContain('SparseCores, 2 stacks');
    expect(outcome.stdout).toContain('exported to ');
    for (const apart of Object.values(report.exportedEqual!)) expect(apart ?? 0).toBeLessThan(1e-6);
    expect(Math.min(...report.counters.elements)).toBeGreaterThan(0);
  });
});

describe('the option --api', () => {
  it('stands in the help, and is distributed by default', () => {
    expect(HELP).toContain('--api NAME        distributed, tpu-v1, tpu-v2');
    expect(readOptions([])).toEqual(jasmine.objectContaining({ api: 'distributed', backend: null, onDevices: null }));
    expect(readOptions(['--api', 'distributed', '--backend', 'cpu']).backend).toBe('cpu');
  });

  it('tpu-v1 runs on the emulator, which need not be named', () => {
    for (const backend of [[], ['--backend', 'tpu-emulator']]) {
      const options = readOptions(['--api', 'tpu-v1', ...backend, '--devices', '5']);
      expect([options.api, options.backend, options.onDevices!.devices]).toEqual(['tpu-v1', 'tpu-emulator', 5]);
    }
  });

  const mistakes: [string[], RegExp][] = [
    [['--api', 'tpu'], /^--api must be one of distributed, tpu-v1, tpu-v2, not "tpu"$/],
    [['--api', ''], /^--api must be one of/],
    [['--api', 'tpu-v1', '--backend', 'cpu'], /^--api tpu-v1 needs --backend tpu-emulator, not "cpu"$/],
    [['--api', 'tpu-v1', '--backend', 'cuda'], /^--backend must be one of cpu, .*, not "cuda"$/],
    [['--api', 'tpu-v1', '--strategy', 'basic'], /^--strategy needs --api distributed: /],
    [['--api', 'tpu-v1', '--column-slice', '9'], /^--column-slice needs --api distributed: /],
    [['--api', 'tpu-v1', '--row-slice', '9'], /^--row-slice needs --api distributed: /],
    [['--api', 'tpu-v1', '--data-parallel', '9'], /^--data-parallel needs --api distributed: /],
    [['--api', 'tpu-v2', '--backend', 'cpu'], /^--api tpu-v2 needs --backend tpu-emulator, not "cpu"$/],
    [['--api', 'tpu-v2', '--devices', '6'], /^--devices must be a power of two with --api tpu-v2, not "6"$/],
  ];
  for (const [args, text] of mistakes) {
    it(`names a mistake: ${args.join(' ')}`, () => {
      expect(() => readOptions(args)).toThrowError(InputError, text);
    });
  }
});

describe('the learning rate of the wide-and-deep example', () => {
  it('goes down to nothing, and stays there', () => {
    const rate = new LearningRate(512, 10);
    expect(rate.at(0)).toBeCloseTo(0.008, 12);
    expect(rate.at(5)).toBeCloseTo(0.004, 12);
    expect([rate.at(10), rate.at(11)]).toEqual([0, 0]);
    expect(new LearningRate(2048, 10).at(0)).toBeCloseTo(0.016, 12);
  });

  it('is corrected as Adam does it, step by step', () => {
    const rate = new LearningRate(512, 10);
    for (const step of [1, 2, 3]) {
      const expected = (rate.at(step - 1) * Math.sqrt(1 - 0.999 ** step)) / (1 - 0.9 ** step);
      expect(rate.nextCorrected()).toBeCloseTo(expected, 12);
    }
  });
});
