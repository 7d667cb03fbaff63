/**
 * Each place where tfjs is wrapped has a probe of the defect that it is for, run in a process where tfjs is alone. One
 * that finds the defect mended fails here: then the wrapping can go, once no version that is taken has the defect.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lastJson } from '../../../tools/frozen/programs.js';
import { ROOT } from '../../helpers/project.js';

const PROGRAM = fileURLToPath(new URL('program.mjs', import.meta.url));
const ROOMS: readonly (readonly [room: string, backend: string])[] = [
  ['training', 'cpu'],
  ['models', 'cpu'],
  ['engine', 'cpu'],
  ['graphs', 'cpu'],
  ['wasm', 'wasm'],
  ['node', 'tensorflow'],
  ['webgpu', 'cpu'],
];

/** Of the table in docs/architecture.md: those that go with another one. */
const WITH_OTHERS: Readonly<Record<string, string>> = {
  'training/substitute': 'overrides/dot',
  'overrides/noise': 'overrides/dropout',
  'overrides/recurrent_dropout': 'overrides/dropout',
  'webgpu/derived_copies': 'webgpu/host_copies',
  'engine/own_functions': 'training/model_steps',
};

/** Mended in the newest tfjs, and needed for the oldest that is taken. */
const MENDED: readonly string[] = [
  // tfjs 4.10 has it; in 4.22 `dispose` takes the mask along.
  'layers/masks, lifetime',
];

/** Shown in pages alone, as they need a GPU: `backends/webgpu`. */
const IN_PAGES: readonly string[] = ['backends/webgpu/stock_kernels'];

/** The names in the table of docs/architecture.md. */
function wrapped(): string[] {
  const [, section] = readFileSync(join(ROOT, 'docs', 'architecture.md'), 'utf8').split('## Where tfjs is wrapped');
  const rows = [...section!.split('\n## ')[0]!.matchAll(/^\| `([^`]+)`(, [a-z]+)? +\|/gm)];
  return rows.map(([, file, part]) => `${file}${part ?? ''}`);
}

function probed(room: string, backend: string): Promise<Record<string, unknown>> {
  return lastJson(spawn(process.execPath, [PROGRAM, room, backend]), room);
}

describe('defects of tfjs that are worked around', () => {
  const found = new Map<string, unknown>();

  for (const [room, backend] of ROOMS) {
    it(`are still there: ${room} on ${backend}`, async () => {
      const results = Object.entries(await probed(room, backend));
      expect(results.length).toBeGreaterThan(0);
      for (const [name, isThere] of results) {
        expect(isThere).withContext(name).toBe(!MENDED.includes(name));
        found.set(name, isThere);
      }
    }, 120_000);
  }

  it('are all in the table of docs/architecture.md, which names no others', () => {
    const names = wrapped();
    expect(names.length).toBeGreaterThan(40);
    const expected = names.filter((name) => !(name in WITH_OTHERS) && !IN_PAGES.includes(name));
    expect([...found.keys()].sort()).toEqual(expected.sort());
    for (const [name, other] of Object.entries(WITH_OTHERS)) {
      expect(names).toContain(name);
      expect(found.has(other)).withContext(name).toBe(true);
    }
  });
});
