/** Every example of docs/examples runs, and prints what it promises. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { chromium, launch } from '../browser/chromium.js';
import { ROOT } from '../browser/libraries.js';
import { skipOrFail } from '../helpers/backends.js';
import { serve } from '../browser/server.js';
import { WITH_DIST } from '../helpers/programs.js';

const FOLDER = join(ROOT, 'docs', 'examples');

/** What the standard output of each holds, line by line, without spaces at the ends. */
const PRINTED: Readonly<Record<string, readonly (string | RegExp)[]>> = {
  'custom_loop.ts': [/^1\d\d of 1000 rows, norm above 0: true$/, 'the loss has fallen: true'],
  'keras_models.ts': ['the predictions are equal: true', 'sum user_id Item_Ids', 'the loss has fallen: true'],
  'many_devices.ts': [
    /^3 tables for 3 inputs on 4 devices, strategy memory_balanced/,
    /^ +3 +0 users +0\.\.2000 +8\.\.16 +16000/,
    '4 devices, ids looked up: 640, 64, 128, 64',
  ],
  'per_id_weights.ts': ['Tensor', '     [[2, 3],]', 'Tensor', '     [[2, 3],]'],
  'preprocessing.ts': [`[ '[UNK]', 'fr', 'de', 'nl' ]`, '[ 2, 0, 1 ] [ 0, 3, 2 ]', '[ 3, 3, 4 ]'],
  'pretrained_vectors.ts': ['vectors unchanged: true', /\[\[true *\],$/, /\[false\],$/, /\[true *\],$/, /\[false\]\]$/],
  'ragged.ts': ['[ 4, 4 ]', 'the loss has fallen: true', '[ 4, 1 ]'],
  'save_and_continue.ts': ['the next losses are equal: true'],
  'shared_table.ts': ['1 weight of shape [100,8]'],
  'tables_from_pytorch.ts': [`[ 'users/embeddings' ]`, '     [[6],]', '[ 10, 4 ]'],
  'tpu_embedding.ts': [
    '{ favorited: [ 4 ], friends: [ 4 ], watched: [ 4 ] } [ 4, 2 ]',
    '-0.05 -0.05 0.95 0.95 1.95 1.95 2.90 2.90',
  ],
  'two_towers.ts': ['[ 2, 2, 2, 2, 2, 2 ]'],
  'two_towers_onnx.ts': ['within 1e-5 of the model: true'],
};

interface Outcome {
  readonly code: number | null;
  readonly lines: string[];
  readonly errors: string;
}

function runExample(name: string, ...args: string[]): Promise<Outcome> {
  const child = spawn(process.execPath, [...WITH_DIST, join(FOLDER, name), ...args], { cwd: ROOT });
  let [output, errors] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, lines: output.split('\n').map((line) => line.trimEnd()), errors }));
  });
}

describe('the examples of docs/examples', () => {
  it('are all tried here', () => {
    const scripts = readdirSync(FOLDER).filter((name) => name.endsWith('.ts'));
    expect(scripts.sort()).toEqual(Object.keys(PRINTED).sort());
  });

  for (const [name, expected] of Object.entries(PRINTED)) {
    it(`print what they promise: ${name}`, async () => {
      const { code, lines, errors } = await runExample(name);
      expect(code).withContext(errors).toBe(0);
      let from = 0;
      for (const wanted of expected) {
        const at = lines.findIndex(
          (line, i) => i >= from && (wanted instanceof RegExp ? wanted.test(line) : line === wanted),
        );
        expect(at)
          .withContext(`${String(wanted)} in order in:\n${lines.join('\n')}`)
          .toBeGreaterThanOrEqual(from);
        from = at + 1;
      }
    });
  }

  /** What a page of an example shows; the package lies at the top in a clone. */
  async function shownBy(name: string, paths: Readonly<Record<string, string>>): Promise<string | null> {
    const browserOf = chromium();
    if ('missing' in browserOf) return (skipOrFail(browserOf.missing), null);
    const text = readFileSync(join(FOLDER, name), 'utf8');
    const page = Object.entries(paths).reduce((all, [path, here]) => all.replaceAll(path, here), text);
    const server = await serve(ROOT, { '/page.html': page });
    const browser = await launch(browserOf.path);
    try {
      const tab = await browser.newPage();
      await tab.goto(`${server.origin}/page.html`);
      await tab.waitForFunction(`document.getElementById('log').textContent !== ''`, undefined, { timeout: 30_000 });
      return await tab.textContent('#log');
    } finally {
      await browser.close();
      await server.close();
    }
  }

  it('run in a page: browser_page.html', async () => {
    const shown = await shownBy('browser_page.html', { '/node_modules/tfjs-embeddings/': '/' });
    if (shown !== null) expect(shown).toBe('wasm: the loss has fallen: true');
  });

  it('run in a page: two_towers_onnx.html', async () => {
    const folder = mkdtempSync(join(ROOT, 'test', '.cache', 'example-'));
    try {
      const { code, errors } = await runExample('two_towers_onnx.ts', join(folder, 'two_towers.onnx'));
      expect(code).withContext(errors).toBe(0);
      const path = `/${relative(ROOT, folder).replaceAll('\\', '/')}/two_towers.onnx`;
      const shown = await shownBy('two_towers_onnx.html', { '/two_towers.onnx': path });
      if (shown === null) return;
      const items = [...shown.matchAll(/^item (\d+): \d\.\d\d$/gm)].map(([, item]) => Number(item) % 5);
      expect(items).toEqual([2, 2, 2, 2, 2, 2]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
