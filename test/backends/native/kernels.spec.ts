import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { HYPER_FIELDS } from '../../../src/rules/hyper.js';
import { addonPath } from '../../../src/backends/native/addon.js';
import { loadNative } from '../../../src/backends/native/register.js';
import { skipOrFail } from '../../helpers/backends.js';
import { itEqualsTensorFlow, itEqualsTheReference } from '../../helpers/kernel_set_suite.js';
import { itStepsPackedRows } from '../packed_step_suite.js';
import { itLooksUpPackedRows } from '../../helpers/packed_suite.js';

describe('native kernels', () => {
  const kernels = loadNative(addonPath());

  itEqualsTensorFlow(() => kernels);
  itEqualsTheReference(() => kernels);
  itLooksUpPackedRows(() => kernels);
  itStepsPackedRows(() => kernels);

  it('say what they are', () => {
    const { implementation, instructionSet, threads } = kernels.info();
    expect(implementation).toBe('native');
    expect(['avx512', 'avx2', 'sse2', 'neon', 'scalar']).toContain(instructionSet);
    expect(threads).toBeGreaterThanOrEqual(1);
    const forced = process.env['TFJS_EMBEDDINGS_ISA'];
    if (forced !== undefined) expect(instructionSet).toBe(forced);
  });

  it('take hyper-parameters in the order of the contract', () => {
    const camelCase = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    expect(kernels.addon.hyperFields().map(camelCase)).toEqual([...HYPER_FIELDS]);
  });

  it('set and tell the number of threads', () => {
    const before = kernels.info().threads;
    for (const threads of [1, 2, 7, 64]) {
      kernels.setThreads(threads);
      expect(kernels.info().threads).toBe(threads);
    }
    for (const wrong of [0, 65, 1.5, NaN, -1]) expect(() => kernels.setThreads(wrong)).toThrowError(RangeError);
    kernels.setThreads(before);
  });

  it('start with as many threads as the process may use', () => {
    if (process.platform !== 'linux') return pending('asks Linux for one processor');
    const allowed = /^Cpus_allowed_list:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))![1]!;
    const program = `console.log(require(${JSON.stringify(addonPath())}).getThreads())`;
    const { stdout, error } = spawnSync('taskset', ['-c', allowed, process.execPath, '-e', program], {
      encoding: 'utf8',
    });
    if (error !== undefined) return skipOrFail('needs the program taskset');
    expect(stdout.trim()).toBe('1');
  });
});
