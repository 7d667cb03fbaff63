// runner: servers
/** The demo with files of the visitor's own: CSV and parquet, and files that are none. */
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DemoPage, newVisitor, siteForSpecs } from './demo_page.js';

/** Visits of users to places: each user goes to places of its own half. */
function visits(rows: number): string[] {
  return Array.from({ length: rows }, (_, i) => {
    const user = (i * 7919) % 40;
    const place = 2 * ((i * 104_729 + (i >> 5)) % 15) + (user % 2);
    return `"user, ${user}",${20 + (user % 50)}.5,place ${place},${(i * 31) % 5}`;
  });
}
const HEADER = 'user name,height,place,stars';

describe('the demo with files of one’s own', () => {
  const openedSite = siteForSpecs();

  async function choose(demo: DemoPage, name: string, text: string | Buffer): Promise<string> {
    const buffer = typeof text === 'string' ? Buffer.from(text) : text;
    await demo.page.setInputFiles('#file', { name, mimeType: 'text/csv', buffer });
    return demo.calm();
  }

  it('says what is wrong with them, and takes the next one', async () => {
    const site = openedSite();
    const demo = await DemoPage.open(await newVisitor(site), site);
    const wrong: [name: string, text: string | Buffer, said: RegExp][] = [
      ['empty.csv', '', /empty\.csv, which is empty/],
      ['header.csv', `${HEADER}\n`, /header\.csv, which has a header alone/],
      ['open.csv', 'a,b\n"1,2\n3,4\n', /open\.csv.*[Qq]uote/],
      ['short.csv', 'a,b\n1,2\n3\n', /2 fields in each row.*row 2 of short\.csv/],
      ['twice.csv', 'a,a\n1,2\n', /two named a in twice\.csv/],
      ['picture.csv', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff, 0xfe, 0x00]), /text in UTF-8.*picture\.csv/],
      ['none.parquet', 'PAR1 and no more', /parquet/],
    ];
    for (const [name, text, said] of wrong) {
      expect(await choose(demo, name, text))
        .withContext(name)
        .toBe('Ready');
      expect(await demo.wrong())
        .withContext(name)
        .toMatch(said);
    }
    expect(await choose(demo, 'visits.csv', [HEADER, ...visits(500)].join('\n'))).toBe('Ready to train');
    expect(await demo.wrong()).toBe('');
    expect(demo.complaints).toEqual([]);
  }, 120_000);

  it('says which choices cannot be, and predicts numbers, chances and choices', async () => {
    const site = openedSite();
    const demo = await DemoPage.open(await newVisitor(site), site);
    const { page } = demo;
    await choose(demo, 'visits.csv', [HEADER, ...visits(6000)].join('\n'));
    const cells = await demo.rows('#understood');
    expect(cells.map((row) => row.slice(0, 2))).toEqual([
      ['user name', 'text'],
      ['height', 'numbers'],
      ['place', 'text'],
      ['stars', 'whole numbers'],
    ]);
    expect([await page.inputValue('#item'), await page.inputValue('#label')]).toEqual(['place', 'stars']);
    await demo.set({ epochs: 2, batch: 128 });

    await page.selectOption('#item', 'stars');
    await demo.click('#train');
    expect(await demo.wrong()).toContain('stars cannot be recommended and predicted at once');
    await page.selectOption('#item', 'height');
    await demo.click('#train');
    expect(await demo.wrong()).toContain('What is recommended must be a category: height is not');
    await page.selectOption('#item', 'place');
    await page.selectOption('#label', 'user name');
    await demo.click('#train');
    expect(await demo.wrong()).toContain('A label holds numbers or two different texts: user name has 40 texts');

    await page.selectOption('#label', 'stars');
    expect(await demo.click('#train')).toBe('Trained');
    expect(Number((await demo.figures())['RMSE'])).toBeLessThan(2.5);

    await page.selectOption('#label', '');
    expect(await demo.click('#train')).toBe('Trained');
    expect(await page.locator('#runs input').count()).toBe(2);
    // Half of the places are those of a user.
    expect(Number((await demo.figures())['recall@20'])).toBeGreaterThan(0.9);
    await page.fill('#asked [name="user name"]', 'user, 3');
    await page.fill('#asked [name=height]', '23.5');
    await demo.click('#asked button');
    await page.waitForSelector('#best table');
    const best = await demo.rows('#best');
    const places = best.map(([name]) => Number(name!.replace('place ', '')));
    expect(places.filter((place) => place % 2 === 1).length).toBeGreaterThan(8);
    expect(demo.complaints).toEqual([]);
  }, 240_000);

  it('takes cells of several texts for lists, and recommends what the file holds and nothing else', async () => {
    const site = openedSite();
    const demo = await DemoPage.open(await newVisitor(site), site);
    const { page } = demo;
    // Six places, each liked by those who like its letter.
    const rows = Array.from({ length: 3000 }, (_, i) => {
      const letter = 'abcdef'[(i * 7) % 6]!;
      return `${letter}|${'xyz'[i % 3]!},place ${letter}`;
    });
    await choose(demo, 'likes.csv', ['likes,place', ...rows].join('\n'));
    expect((await demo.rows('#understood'))[0]!.slice(0, 2)).toEqual(['likes', 'text']);
    const kinds = page.locator('#understood tbody select');
    expect(await kinds.evaluateAll((all) => all.map((each) => (each as HTMLSelectElement).value))).toEqual([
      'list',
      'category',
    ]);
    await demo.set({ epochs: 3, batch: 64 });
    expect(await demo.click('#train')).toBe('Trained');
    await page.fill('#asked [name=likes]', 'c|x');
    await demo.click('#asked button');
    await page.waitForSelector('#best table');
    const best = (await demo.rows('#best')).map(([name]) => name!);
    expect(best[0]).toBe('place c');
    expect([...best].sort()).toEqual(['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => `place ${letter}`));
    await demo.click('#draw');
    await page.fill('#find', 'place c');
    await page.press('#find', 'Tab');
    await page.waitForSelector('#near table');
    const near = (await demo.rows('#near')).map(([name]) => name!);
    expect([...near].sort()).toEqual(['a', 'b', 'd', 'e', 'f'].map((letter) => `place ${letter}`));
    expect(demo.complaints).toEqual([]);
  }, 120_000);

  it('reads parquet', async () => {
    const site = openedSite();
    const demo = await DemoPage.open(await newVisitor(site), site);
    const file = new URL('../../goldens/parquet/snappy_dictionary.parquet', import.meta.url);
    expect(await choose(demo, 'rows.parquet', readFileSync(file))).toBe('Ready to train');
    expect((await demo.rows('#understood')).length).toBeGreaterThan(3);
    await demo.picture('parquet');
    expect(demo.complaints).toEqual([]);
  }, 120_000);

  it('reads 200 MB with progress, and stops when it is told to', async () => {
    const site = openedSite();
    const path = join(tmpdir(), `visits-${process.pid}.csv`);
    const file = openSync(path, 'w');
    writeSync(file, `${HEADER}\n`);
    const lines = `${visits(100_000).join('\n')}\n`;
    for (let size = 0; size < 200e6; size += lines.length) writeSync(file, lines);
    closeSync(file);
    const demo = await DemoPage.open(await newVisitor(site), site);
    const { page } = demo;
    try {
      await page.setInputFiles('#file', path);
      expect(await demo.calm()).toBe('Ready to train');
      await demo.set({ batch: 4096, epochs: 1 });
      await page.click('#train');
      const shares = new Set<number>();
      while (
        !(await page.isVisible('#pause')) ||
        (await page.textContent('#status-text')) !== 'Training, pass 1 of 1'
      ) {
        shares.add(await page.locator('#progress').evaluate((bar) => (bar as HTMLProgressElement).value));
        await page.waitForTimeout(100);
      }
      expect(shares.size).toBeGreaterThan(5);
      await page.waitForFunction(() => Number(document.querySelectorAll('#figures dd')[1]!.textContent) > 3);
      await page.click('#pause');
      expect(await demo.calm()).toBe('Paused');
      expect(await demo.wrong()).toBe('');
      expect(demo.complaints).toEqual([]);
    } finally {
      rmSync(path);
    }
  }, 300_000);
});
