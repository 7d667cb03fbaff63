/** The addon called with anything: exceptions, never a crash. TFJS_EMBEDDINGS_FUZZ_SEED picks other calls. */
import { spawnSync } from 'node:child_process';

const CALLS = 100_000;

describe('the addon', () => {
  it(`survives ${CALLS} calls with arbitrary values`, () => {
    const seed = process.env['TFJS_EMBEDDINGS_FUZZ_SEED'] ?? '1';
    const args = ['--import', 'tsx', 'test/attack/addon_calls_program.ts', seed, String(CALLS)];
    const { status, signal, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: new URL('../../..', import.meta.url),
      encoding: 'utf8',
    });
    expect(signal).withContext(stderr).toBeNull();
    expect(status).withContext(stderr).toBe(0);
    const { calls, returned, threw } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as Record<string, number>;
    expect(calls).toBe(CALLS);
    // Both sides are met often, or the calls would test little.
    expect(returned).toBeGreaterThan(CALLS / 10);
    expect(threw).toBeGreaterThan(CALLS / 10);
  }, 120_000);
});
