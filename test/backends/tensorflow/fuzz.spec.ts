/** The ops run with anything: errors, never a crash. TFJS_EMBEDDINGS_FUZZ_SEED picks other calls. */
import { runProgram } from '../../../tools/attack/child_program.js';
import { describeTensorFlow } from './tensorflow_backend.js';

const CALLS = 1500;

describeTensorFlow('the TensorFlow ops', () => {
  it(`survive ${CALLS} calls with arbitrary tensors and attributes`, async () => {
    const file = new URL('../../../tools/attack/programs/tensorflow_ops_program.ts', import.meta.url);
    const seed = process.env['TFJS_EMBEDDINGS_FUZZ_SEED'] ?? '1';
    const { lastLine, problem } = await runProgram(file, [seed, CALLS], { timeoutMs: 110_000 });
    expect(problem).toBeNull();
    const report = JSON.parse(lastLine) as { returned: number; threw: number; fallen: string[] };
    expect(report.fallen).toEqual([]);
    expect(report.returned).toBeGreaterThan(CALLS / 10);
    expect(report.threw).toBeGreaterThan(CALLS / 10);
  }, 120_000);
});
