/** The addon called with anything: exceptions, never a crash. TFJS_EMBEDDINGS_FUZZ_SEED picks other calls. */
import { runProgram } from '../../../tools/attack/child_program.js';

const SEED = process.env['TFJS_EMBEDDINGS_FUZZ_SEED'] ?? '1';

interface Report {
  readonly calls: number;
  readonly returned: number;
  readonly threw: number;
  readonly fallen: readonly string[];
}

interface CallReport extends Report {
  readonly shared: number;
  readonly byName: Readonly<Record<string, { readonly returned: number; readonly threw: number }>>;
  readonly byCodec: Readonly<Record<string, number>>;
}

/** What an attack reports after so many calls. */
async function attack<T extends Report>(program: string, calls: number): Promise<T> {
  const file = new URL(`../../../tools/attack/${program}`, import.meta.url);
  const { lastLine, problem } = await runProgram(file, [SEED, calls], { timeoutMs: 110_000 });
  expect(problem).toBeNull();
  const report = JSON.parse(lastLine) as T;
  expect(report.fallen).toEqual([]);
  expect(report.calls).toBe(calls);
  return report;
}

describe('the addon', () => {
  it('survives 60000 calls with arbitrary values, and refuses to write where memory is shared', async () => {
    const report = await attack<CallReport>('programs/addon_calls_program.ts', 60_000);
    // Each side is met often, or the calls would test little.
    expect(report.returned).toBeGreaterThan(6000);
    expect(report.threw).toBeGreaterThan(6000);
    expect(report.shared).toBeGreaterThan(600);
    const { byName, byCodec } = report;
    for (const name of Object.keys(byName)) expect(byName[name]!.threw + byName[name]!.returned).toBeGreaterThan(300);
    for (const name of ['embeddingBag', 'partitionCsr', 'sparseApply', 'matMul']) {
      expect(byName[name]!.returned).withContext(name).toBeGreaterThan(100);
    }
    for (const name of ['embeddingBag of float16', 'embeddingBag of int8', 'sparseApply of float16']) {
      expect(byCodec[name]).withContext(name).toBeGreaterThan(100);
    }
  }, 120_000);

  it('survives 10000 calls while a thread rewrites ids, splits, weights and results', async () => {
    await attack('programs/addon_races_program.ts', 10_000);
  }, 120_000);
});
