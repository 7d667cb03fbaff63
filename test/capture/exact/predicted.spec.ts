/**
 * Captured predictions and evaluations have the bits of those op by op, on this processor and where TensorFlow takes it
 * for an older one. TFJS_EMBEDDINGS_EXACT_MODELS sets the number of models (40).
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { WITH_SOURCES } from '../../helpers/programs.js';
import { describeSteps } from '../training.js';
import { differencesOf } from './predicted.js';

const MODELS = Number(process.env['TFJS_EMBEDDINGS_EXACT_MODELS'] ?? 40);
const SEED = Number(process.env['TFJS_EMBEDDINGS_TEST_SEED'] ?? 1);
const PROGRAM = fileURLToPath(new URL('predicted.ts', import.meta.url));
const LIMIT_MS = 240_000;

/** What other processors would run: the libraries below TensorFlow have ways of their own to add up. */
const PROCESSORS: Record<string, Record<string, string>> = {
  'with AVX2 alone': { ONEDNN_MAX_CPU_ISA: 'AVX2' },
  'with SSE 4.1 alone': { ONEDNN_MAX_CPU_ISA: 'SSE41' },
  'without oneDNN': { TF_ENABLE_ONEDNN_OPTS: '0' },
};

describeSteps('Captured predictions of drawn models', () => {
  it(
    'have the bits of those op by op',
    () => {
      const found = Array.from({ length: MODELS }, (_, i) => differencesOf(SEED + i));
      expect(found.flat()).toEqual([]);
    },
    LIMIT_MS,
  );

  for (const [title, environment] of Object.entries(PROCESSORS)) {
    it(
      `have them on processors ${title}`,
      async () => {
        const args = [...WITH_SOURCES, PROGRAM, String(Math.ceil(MODELS / 2)), String(SEED)];
        const env = { ...process.env, ...environment };
        const { stdout } = await promisify(execFile)(process.execPath, args, { env });
        expect(JSON.parse(stdout)).toEqual([]);
      },
      LIMIT_MS,
    );
  }
});
