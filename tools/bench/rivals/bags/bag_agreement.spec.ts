import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WITH_SOURCES } from '../../../../test/helpers/programs.js';
import { Peer } from '../peer.js';
import { PACKED } from '../peers.js';
import { agreementOf } from './bag_agreement.js';
import { drawBags, quickCases, type BagCase } from './bag_cases.js';
import { hotnessOf, readBags, writeBags } from './bag_files.js';

const own = [process.execPath, ...WITH_SOURCES, fileURLToPath(new URL('own_bags.ts', import.meta.url))];
const middle: BagCase = quickCases()[0]!;

/** A program that answers as `javascript` does. */
const fake = (javascript: string): string[] => [
  process.execPath,
  '-e',
  `const say = (x) => console.log(JSON.stringify(x)); say({ version: 'fake' });
   require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
     const request = JSON.parse(line); ${javascript} });`,
];

describe('the bench with rivals', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'tfjs-embeddings-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it('hands bags over through files', () => {
    for (const bagCase of [middle, { ...middle, hot: 'variable', isWeighted: true, ids: 'zipf' } as const]) {
      const bags = drawBags(bagCase, { rows: 40, batch: 8, batches: 3 }, 1);
      writeBags(folder, bags);
      const read = readBags({ folder, batch: 8, combiner: 'sum' });
      expect(read).toEqual(bags);
      expect(hotnessOf(read)).toBe(bagCase.hot === 'variable' ? null : bagCase.hot);
      expect(read.batches.every(({ values }) => values.every((id) => id >= 0 && id < 40))).toBeTrue();
    }
  });

  it('finds our kernels equal to the reference', async () => {
    const peer = await Peer.start('native', [...own, 'native', '2']);
    if (typeof peer === 'string') throw new Error(peer);
    for (const op of ['forward', 'sgd', 'rowWiseAdagrad', 'adagrad', 'adam', 'adagradMomentum', 'ftrl']) {
      const bagCase = { ...middle, op, hot: 'variable', combiner: 'mean', isWeighted: true } as const;
      expect(await agreementOf(peer, bagCase, folder))
        .withContext(op)
        .toBe('equal');
    }
    peer.stop();
  });

  it('finds lookups of packed rows equal to the reference on the values that they keep', async () => {
    for (const storage of PACKED) {
      const peer = await Peer.start(storage, [...own, storage, '2']);
      if (typeof peer === 'string') throw new Error(peer);
      const bagCase = { ...middle, op: 'forward', hot: 'variable' } as const;
      expect(await agreementOf(peer, bagCase, folder))
        .withContext(storage)
        .toBe('equal');
      expect(await agreementOf(peer, { ...bagCase, op: 'sgd' }, folder)).toEqual({ lacks: 'no steps' });
      peer.stop();
      const other = await Peer.start('native', [...own, storage, '2']);
      if (typeof other === 'string') throw new Error(other);
      expect(Object.keys(await agreementOf(other, bagCase, folder))).toEqual(['differs']);
      other.stop();
    }
  });

  it('sees a peer that computes something else, one that fails, and one that lacks the case', async () => {
    const zeros = `if (request.do === 'outputs') for (const name of ['pooled', 'table_out'])
      require('node:fs').writeFileSync(${JSON.stringify(folder)} + '/' + name + '.f32',
        new Float32Array((name === 'pooled' ? 64 : 300) * 32));
      say({});`;
    const answers: [string, string][] = [
      [zeros, 'differs'],
      [`say({ error: 'no memory' });`, 'fails'],
      [`say({ lacks: 'no sums' });`, 'lacks'],
      [`process.exit(3);`, 'fails'],
    ];
    for (const [javascript, kind] of answers) {
      const peer = (await Peer.start('fake', fake(javascript))) as Peer;
      const agreement = await agreementOf(peer, middle, folder);
      expect(Object.keys(agreement)).withContext(javascript).toEqual([kind]);
      peer.stop();
    }
  });

  it('tells why a program is missing', async () => {
    expect(await Peer.start('none', [join(folder, 'python')])).toContain('ENOENT');
    writeFileSync(join(folder, 'missing.mjs'), `console.log('{"missing": "no module"}');`);
    expect(await Peer.start('none', [process.execPath, join(folder, 'missing.mjs')])).toBe('no module');
  });
});
