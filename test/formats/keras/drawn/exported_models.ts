/** Drawn models loaded, written by `exportKeras`, and compared with the originals by Keras. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as emb from '../../../../src/node.js';
import type { Python } from '../../../backends/tensorflow/python_tensorflow.js';
import type { DrawnModel } from './drawn_models.js';

const SCRIPT = fileURLToPath(new URL('compare_exports.py', import.meta.url));

export interface ExportOutcome {
  readonly seed: number;
  /** Why it was not loaded or not written. */
  readonly refused?: string;
  /** What Keras found. */
  readonly differences: readonly string[];
}

/** Writes the models into a folder; those that are refused by name are told. */
export async function exportOutcomes(
  cases: readonly DrawnModel[],
  folder: string,
  python: Python,
): Promise<ExportOutcome[]> {
  const refused: ExportOutcome[] = [];
  const lines: string[] = [];
  for (const drawn of cases) {
    if (drawn.skipped !== undefined) continue;
    const exported = join(folder, `out_${drawn.seed}.keras`);
    try {
      const model = await emb.loadKerasModel(drawn.file);
      try {
        await emb.exportKeras(model, exported, { overwrite: true });
        lines.push(JSON.stringify({ ...drawn, exported }));
      } finally {
        model.dispose();
      }
    } catch (error) {
      if (!(error instanceof emb.ValueError)) throw error;
      refused.push({ seed: drawn.seed, refused: error.message.slice(0, 200), differences: [] });
    }
  }
  const list = join(folder, 'exports.jsonl');
  writeFileSync(list, lines.map((line) => `${line}\n`).join(''));
  const told = lines.length === 0 ? [] : python.run(SCRIPT, list).split('\n');
  return [...refused, ...told.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as ExportOutcome)];
}
