/** Every example of docs/examples runs, and prints what it promises. */
import { spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
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
};

interface Outcome {
  readonly code: number | null;
  readonly lines: string[];
  readonly errors: string;
}

function runExample(name: string): Promise<Outcome> {
  const child = spawn(process.execPath, [...WITH_DIST, join(FOLDER, name)], { cwd: ROOT });
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

  it('run in a page: browser_page.html', async () => {
    const browserOf = chromium();
    if ('missing' in browserOf) return skipOrFail(browserOf.missing);
    // In a clone the package lies at the top.
    const page = readFileSync(join(FOLDER, 'browser_page.html'), 'utf8').replaceAll(
      '/node_modules/tfjs-embeddings/',
      '/',
    );
    const server = await serve(ROOT, { '/page.html': page });
    const browser = await launch(browserOf.path);
    try {
      const tab = await browser.newPage();
      await tab.goto(`${server.origin}/page.html`);
      await tab.waitForFunction(`document.getElementById('log').textContent !== ''`, undefined, { timeout: 30_000 });
      expect(await tab.textContent('#log')).toBe('wasm: the loss has fallen: true');
    } finally {
      await browser.close();
      await server.close();
    }
  });
});
