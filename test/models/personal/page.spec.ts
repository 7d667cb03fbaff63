// runner: servers
/** A personal model: items trained here, a visitor folded in in a page, and nothing sent. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { freeze, itemsOf } from '../../../models/personal/frozen_items.js';
import { buildPersonal, madeUpData, trainItems } from '../../../models/personal/job.js';
import { Random } from '../../../models/random.js';
import { readOptions } from '../../../models/personal/options.mjs';
import { negativesOf, refinedRow } from '../../../models/personal/refined_row.js';
import { servePage } from '../../../models/page/server.js';
import { skipOrFail } from '../../helpers/backends.js';
import { DemoPage, launchForPages, newVisitor } from '../demo/demo_page.js';

describe('a personal model', () => {
  it('folds in by the rows that the page has, not by those that were trained', () => {
    const before = tf.memory().numTensors;
    const random = new Random(3);
    const items = tf.tensor2d(
      Array.from({ length: 40 * 4 }, () => 100 * random.next()),
      [40, 4],
    );
    const frozen = freeze(items, { regularization: 0.1, unobservedWeight: 0.01 });
    const { foldIn } = (frozen as unknown as { userDefinedMetadata: { foldIn: { gram: number[] } } })
      .userDefinedMetadata;
    const rounded = emb.quantize(frozen, { dtype: 'float32' });
    const [ofRounded, ofTrained] = [rounded.getWeights()[0]!, items].map((rows) => {
      return tf.tidy(() => Array.from(tf.matMul(rows as tf.Tensor2D, rows as tf.Tensor2D, true).dataSync()));
    });
    expect(foldIn.gram).toEqual(ofRounded!);
    expect(foldIn.gram).not.toEqual(ofTrained!);
    for (const model of [frozen, rounded]) model.dispose();
    items.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });

  it('folds a visitor in as Node does, keeps the clicks, and sends nothing', async () => {
    const browser = await launchForPages();
    if ('missing' in browser) return skipOrFail(browser.missing);
    await emb.ready();
    await tf.setBackend('cpu');
    const options = readOptions(['--epochs', '6', '--dim', '16', '--sampled', '128']);
    const data = madeUpData(7);
    const { items, users } = trainItems(data, data.train, options);
    const settings = { regularization: options.regularization, unobservedWeight: options.unobserved };
    const frozen = freeze(items, settings);
    const server = await servePage(await buildPersonal(frozen, data.names), 0);
    const site = { browser, server, close: () => browser.close() };
    try {
      const visitor = await newVisitor(site);
      const first = await DemoPage.open(visitor, site);
      const asked: string[] = [];
      first.page.on('request', (request) => asked.push(`${request.method()} ${request.postData() ?? ''}`));
      expect(await first.page.textContent('#about')).toContain(`${data.numItems} items with 16 numbers each`);
      const liked = data.names.filter((name) => name.endsWith('(Crime)')).slice(0, 3);
      for (const name of liked) {
        await first.page.fill('#find', name);
        await first.click(`[aria-label="Like ${name}"]`);
      }
      const rows = await first.rows('#best');
      expect(rows.length).toBe(20);
      const crime = rows.slice(0, 10).filter(([name]) => name!.endsWith('(Crime)'));
      expect(crime.length).toBeGreaterThan(6);

      // The same in Node, on the same int8 rows.
      const table = itemsOf(frozen);
      const ids = liked.map((name) => data.names.indexOf(name));
      const before = tf.memory().numTensors;
      const solved = emb.foldIn(table, { ids, ...settings }) as tf.Tensor1D;
      const negatives = negativesOf(table);
      const row = refinedRow(solved, table, ids, negatives);
      const query = row.reshape([1, -1]) as tf.Tensor2D;
      const { values, indices } = emb.topK(query, table, 20, { exclude: emb.RaggedTensor.fromRows([ids]) });
      expect(Array.from(indices.dataSync(), (id) => data.names[id])).toEqual(rows.map(([name]) => name));
      Array.from(values.dataSync()).forEach((value, i) => expect(Number(rows[i]![1])).toBeCloseTo(value, 2));
      tf.dispose([solved, negatives, row, query, values, indices]);
      expect(tf.memory().numTensors).toBe(before);

      expect(asked.filter((request) => request !== 'GET ')).toEqual([]);
      await first.picture('personal');
      const second = await DemoPage.open(visitor, site);
      expect(await second.rows('#best')).toEqual(rows);
      expect(await second.page.locator('#chosen button').allTextContents()).toEqual(liked);
      await second.click(`[aria-label="Remove ${liked[0]!}"]`);
      expect(await second.page.locator('#chosen button').allTextContents()).toEqual(liked.slice(1));
      await second.click('#forget');
      expect(await second.page.locator('#best tr').count()).toBe(0);
      const third = await DemoPage.open(visitor, site);
      expect(await third.page.locator('#chosen button').count()).toBe(0);
      const other = await DemoPage.open(await newVisitor(site), site);
      expect(await other.page.locator('#chosen button').count()).toBe(0);
      expect([first, second, third, other].flatMap(({ complaints }) => complaints)).toEqual([]);
    } finally {
      await browser.close();
      await server.close();
      tf.dispose([items, users]);
      frozen.dispose();
    }
  }, 240_000);
});
