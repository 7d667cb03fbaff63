/**
 * Models that are built, trained, saved and disposed over and over leave nothing behind: no tensor, no byte on a device,
 * no thread, no handle. With TFJS_EMBEDDINGS_TEST_ROUNDS=200 there are so many rounds, each form has a process of its
 * own, and resident memory is looked at too.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { WITH_SOURCES } from '../../helpers/programs.js';
import { skipOrFail } from '../../helpers/backends.js';
import { HOSTS, loadHost, type HostName } from './describe_emulator.js';
import type { RoundsReport } from './rounds_program.js';

const PROGRAM = fileURLToPath(new URL('rounds_program.ts', import.meta.url));
const FORMS = ['kept-worker', 'kept-inline', 'anew-worker', 'anew-inline'];
const FEW = 6;
const MOST_GROWTH = 50e3; // bytes a round
const PATIENCE_MS = 10 * 60_000;
const wanted = Number(process.env['TFJS_EMBEDDINGS_TEST_ROUNDS'] ?? FEW);
const isFull = wanted > FEW;

async function run(host: HostName, forms: readonly string[]): Promise<RoundsReport[]> {
  const args = ['--expose-gc', ...WITH_SOURCES, PROGRAM, host, String(wanted), ...forms];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    timeout: PATIENCE_MS,
    maxBuffer: 2 ** 26,
  });
  return JSON.parse(stdout.trim().split('\n').at(-1)!) as RoundsReport[];
}

for (const host of HOSTS) {
  describe(`rounds of models on devices [${host}]`, () => {
    let missing: string | null = null;
    beforeAll(async () => {
      missing = await loadHost(host);
    });

    for (const forms of isFull ? FORMS.map((form) => [form]) : [FORMS]) {
      it(
        `leave nothing behind: ${forms.join(', ')}`,
        async () => {
          if (missing !== null) return skipOrFail(missing);
          const reports = await run(host, forms);
          expect(reports.map(({ form }) => form)).toEqual(forms);
          for (const { form, held, growth } of reports) {
            expect(held.length).toBe(wanted - 1);
            expect([...new Set(held)])
              .withContext(form)
              .toEqual([held[0]!]);
            expect(held[0]).toContain('"numTensors":0,');
            if (growth !== null) expect(growth).withContext(`${form}: bytes a round`).toBeLessThan(MOST_GROWTH);
          }
        },
        PATIENCE_MS,
      );
    }
  });
}
