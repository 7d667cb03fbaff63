/** The list of ops, and the table in the docs. */
import * as tf from '@tensorflow/tfjs';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { STOCK_OPS } from '../../../src/formats/graph_models/stock_ops.js';
import * as emb from '../../../src/node.js';
import { opCategories } from '../../../src/tfjs/graph_models/graph_loading.js';
import { ROOT } from '../../helpers/project.js';
import { documentedTable, opTable } from './op_table.js';

describe('converter.listOps', () => {
  it('knows the ops of the tfjs that is installed', () => {
    const lists = join(ROOT, 'node_modules', '@tensorflow', 'tfjs-converter', 'dist', 'operations', 'op_list');
    const files = readdirSync(lists).filter((name) => name.endsWith('.js'));
    const texts = files.map((name) => readFileSync(join(lists, name), 'utf8'));
    const names = new Set(texts.flatMap((text) => [...text.matchAll(/'tfOpName': '(\w+)'/g)].map(([, name]) => name!)));
    // Some lists of tfjs are in no use: ragged ops for one.
    const known = [...opCategories([...names])].filter(([, category]) => category !== undefined);
    const ours = new Set(emb.converter.registerOps());
    const stock = known.map(([name]) => name).filter((name) => STOCK_OPS.includes(name) || !ours.has(name));
    expect(STOCK_OPS.filter((name) => !stock.includes(name))).toEqual([]);
    expect(stock.filter((name) => !STOCK_OPS.includes(name))).toEqual([]);
  });

  it('lists every op once, all that is registered as ours, and backends that are there', () => {
    const ours = emb.converter.registerOps();
    const listed = emb.converter.listOps();
    expect(new Set(listed.map(({ name }) => name)).size).toBe(listed.length);
    expect(listed.filter(({ by }) => by === 'tfjs-embeddings').map(({ name }) => name)).toEqual([...ours].sort());
    for (const { name, backends } of listed) {
      expect(backends.length).withContext(name).toBeGreaterThan(0);
      for (const backend of backends) expect(tf.findBackendFactory(backend)).withContext(name).not.toBeNull();
    }
    const unique = listed.find(({ name }) => name === 'UniqueV2')!;
    expect(unique.by).toBe('tfjs');
    expect(unique.backends).toContain('cpu');
  });

  it('an op of tfjs is listed for backends with its kernel', () => {
    for (const { name, by, backends } of emb.converter.listOps()) {
      if (by !== 'tfjs' || tf.getKernel(name, 'cpu') === undefined) continue;
      for (const backend of backends)
        expect(tf.getKernel(name, backend)).withContext(`${name}, ${backend}`).toBeDefined();
    }
  });

  it('docs/graph_ops.md says who runs which op', () => {
    expect(documentedTable()).toEqual(opTable());
  });
});
