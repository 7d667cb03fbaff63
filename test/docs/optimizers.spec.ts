/** docs/optimizers.md names every optimizer, each of its fields, and the default that is in force. */
import { readFileSync } from 'node:fs';
import { fieldsOf } from '../../src/rules/optimizer_settings.js';
import { OPTIMIZER_NAMES, SLOT_NAMES, UPDATE_NAMES, type OptimizerName } from '../../src/rules/rules.js';
import { optimizerOf } from '../rules/optimizer_of.js';
import { DOCUMENT, FAMILIES, documentedRows, optimizersOf, rowsOf } from './optimizer_tables.js';

describe('docs/optimizers.md', () => {
  for (const family of FAMILIES) {
    it(`has every field of emb.${family} with its default`, () => {
      // `node --import tsx test/docs/optimizer_tables.ts` writes the tables anew.
      expect(documentedRows(family)).toEqual(rowsOf(family));
    });

    it(`describes every field of emb.${family}`, () => {
      const rows = readFileSync(DOCUMENT, 'utf8').split(`<!-- emb.${family} -->`)[1]!.split('<!-- end -->')[0]!;
      const lines = rows.split('\n').filter((line) => line.startsWith('|'));
      expect(lines.length).toBeGreaterThan(15);
      const bare = lines.filter((line) => (line.split(/(?<!\\)\|/)[4]?.trim() ?? '') === '');
      expect(bare).toEqual([]);
    });
  }

  it('names the slots of every update', () => {
    const rows = readFileSync(DOCUMENT, 'utf8').split('<!-- emb.train -->')[0]!;
    for (const name of UPDATE_NAMES) {
      const own = rows.split('\n').find((line) => line.startsWith(`| \`${optimizerOf(name).name}\``));
      for (const slot of SLOT_NAMES[name]) expect(own).withContext(name).toContain(slot);
    }
    for (const name of OPTIMIZER_NAMES) expect(rows).toContain(`| \`${name}\``);
  });

  it('counts as fields what the optimizers take', () => {
    expect([...optimizersOf('train').keys()].sort()).toEqual([...OPTIMIZER_NAMES].sort());
    for (const [name, make] of optimizersOf('train')) {
      expect(Object.keys(make().getConfig()).sort())
        .withContext(name)
        .toEqual([...fieldsOf(name as OptimizerName)].sort());
    }
    expect([...optimizersOf('tpu').keys()].sort()).toEqual(['Adagrad', 'AdagradMomentum', 'Adam', 'FTRL', 'SGD']);
  });
});
