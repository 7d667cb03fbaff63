// runner: servers
/** The demo with its made-up data: trained, drawn, asked, downloaded, and loaded here and in Node. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as zip from '@zip.js/zip.js';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { DemoPage, newVisitor, siteForSpecs } from './demo_page.js';

describe('the demo with its made-up bookshop', () => {
  const openedSite = siteForSpecs();

  it('trains, draws a map, recommends, and gives a model that loads here and in Node', async () => {
    const site = openedSite();
    const demo = await DemoPage.open(await newVisitor(site), site);
    const { page } = demo;
    expect(await demo.click('#made-up')).toBe('Ready to train');
    const kinds = await page.locator('#understood tbody select').evaluateAll((all) => {
      return all.map((each) => (each as HTMLSelectElement).value);
    });
    expect(kinds).toEqual(['category', 'number', 'list', 'category', 'category', 'category']);
    expect([await page.inputValue('#item'), await page.inputValue('#label')]).toEqual(['book', 'finished']);

    await demo.set({ epochs: 4 });
    expect(await demo.click('#train')).toBe('Trained');
    const figures = await demo.figures();
    expect(figures['Pass']).toBe('4 of 4');
    // 0.5 is chance.
    expect(Number(figures['AUC'])).toBeGreaterThan(0.78);
    expect(await page.locator('#curves canvas').count()).toBe(1);

    expect(await demo.click('#draw')).toBe('Ready');
    expect((await page.locator('#groups li').allTextContents()).length).toBe(8);
    await page.fill('#find', 'The Silent Harbour (Crime)');
    await page.press('#find', 'Tab');
    await page.waitForSelector('#near table');
    const near = await demo.rows('#near');
    expect(near.length).toBe(10);
    // Books lie near those of their shelf, which the model was never told.
    expect(near.filter(([name]) => name!.endsWith('(Crime)')).length).toBeGreaterThan(7);

    const ask = async (): Promise<string[][]> => {
      await page.fill('#asked [name=reader]', 'somebody new');
      await page.fill('#asked [name=age]', '40');
      await page.fill('#asked [name=shelves]', 'Poetry');
      await page.fill('#asked [name=weekday]', 'Sun');
      await demo.click('#asked button');
      await page.waitForSelector('#best table');
      return demo.rows('#best');
    };
    const best = await ask();
    expect(best.length).toBe(10);
    expect(best.filter(([name]) => name!.endsWith('(Poetry)')).length).toBeGreaterThan(7);
    await demo.picture('bookshop');

    const [download] = await Promise.all([page.waitForEvent('download'), page.click('#download')]);
    const file = (await download.path())!;
    expect(download.suggestedFilename()).toBe('model.zip');

    // In Node the same row has the same chances.
    const folder = mkdtempSync(join(tmpdir(), 'demo-model-'));
    try {
      const reader = new zip.ZipReader(new zip.Uint8ArrayReader(await readFile(file)), { useWebWorkers: false });
      for (const entry of await reader.getEntries()) {
        if (entry.directory) continue;
        writeFileSync(join(folder, entry.filename), await entry.getData(new zip.Uint8ArrayWriter()));
      }
      await emb.ready();
      // Loading one makes what all models share.
      (await tf.loadLayersModel(`file://${folder}/model.json`)).dispose();
      const before = tf.memory().numTensors;
      const model = await tf.loadLayersModel(`file://${folder}/model.json`);
      const row = { reader: 'somebody new', age: 40, shelves: ['Poetry'], weekday: 'Sun' };
      const inputs = model.pipeline!.apply(best.map(([book]) => ({ ...row, book })));
      const chances = model.predict(inputs as never) as tf.Tensor;
      const shown = await page
        .locator('#best td')
        .evaluateAll((cells) => cells.map((cell) => Number((cell as HTMLElement).title)));
      const found = Array.from(chances.dataSync());
      expect(found.length).toBe(10);
      found.forEach((chance, i) => expect(chance).toBeCloseTo(shown[i]!, 5));
      tf.dispose([chances, ...Object.values(inputs).filter((each) => each instanceof tf.Tensor)]);
      model.dispose();
      expect(tf.memory().numTensors).toBe(before);
    } finally {
      rmSync(folder, { recursive: true });
    }

    // Another visitor, who has no data, loads it and gets the same.
    const other = await DemoPage.open(await newVisitor(site), site);
    await other.page.setInputFiles('#model-file', {
      name: 'model.zip',
      mimeType: 'application/zip',
      buffer: await readFile(file),
    });
    expect(await other.calm()).toBe('model.zip was loaded');
    await other.page.fill('#asked [name=reader]', 'somebody new');
    await other.page.fill('#asked [name=age]', '40');
    await other.page.fill('#asked [name=shelves]', 'Poetry');
    await other.page.fill('#asked [name=weekday]', 'Sun');
    await other.click('#asked button');
    await other.page.waitForSelector('#best table');
    expect(await other.rows('#best')).toEqual(best);

    expect([...demo.complaints, ...other.complaints]).toEqual([]);
  }, 300_000);
});
