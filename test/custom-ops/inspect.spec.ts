import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../src/node.js';
import { outcomeOf, ROOT, type Outcome } from '../helpers/project.js';

describe('the command inspect', () => {
  const folder = mkdtempSync(join(tmpdir(), 'inspect-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const run = (...args: string[]): Promise<Outcome> => {
    return outcomeOf(
      spawn(process.execPath, [join(ROOT, 'custom-ops', 'cli.mjs'), 'inspect', ...args], { cwd: folder }),
    );
  };

  it('prints tensors, their values and the nearest rows', async () => {
    const file = join(folder, 'items.safetensors');
    const items = tf.tensor2d([[1, 0], [0, 1], [1, 0.1]]); // prettier-ignore
    await emb.weights.writeSafetensors(file, { items });
    items.dispose();
    const { code, output } = await run(file, '--statistics', '--tensor', 'items', '--near', '0');
    expect(code).withContext(output).toBe(0);
    expect(output).toMatch(/items +float32 +\[3, 2\] +0 +1 +0\.5167 .* 2 +0/);
    expect(output).toMatch(/^2 +0\.995$/m);
    expect(output).toContain('safetensors, 1 tensors, 6 numbers');
    const asJson = await run(file, '--json');
    expect(JSON.parse(asJson.output) as unknown).toEqual({
      format: 'safetensors',
      layers: null,
      tensors: [{ name: 'items', dtype: 'float32', shape: [3, 2] }],
    });
  });

  it('says what is wrong with its arguments and with files', async () => {
    expect((await run('--help')).output).toContain('Usage: tfjs-embeddings inspect');
    expect((await run()).code).toBe(2);
    expect((await run('a', '--nearest', '3')).code).toBe(2);
    const missing = await run('none.keras');
    expect([missing.code, missing.errors]).toEqual([1, jasmine.stringContaining('none.keras')]);
    expect((await run('none', '--near', 'x')).errors).toContain('--near: expected a whole number');
  });
});
