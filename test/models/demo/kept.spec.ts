// runner: servers
/** The demo goes on: after a pause, and after the page was loaded anew, with the steps of a training that never stopped. */
import { DemoPage, newVisitor, siteForSpecs } from './demo_page.js';

describe('trainings of the demo', () => {
  const openedSite = siteForSpecs();

  const settings = { epochs: 3, dim: 8, batch: 128 };
  const atStep = (demo: DemoPage, step: number) =>
    demo.page.waitForFunction((least) => {
      return Number(document.querySelectorAll('#figures dd')[1]?.textContent.replace(',', '') ?? 0) >= least;
    }, step);

  it('pause, go on, and go on in a page that was loaded anew, to the same end', async () => {
    const site = openedSite();
    const straight = await DemoPage.open(await newVisitor(site), site);
    await straight.click('#made-up');
    await straight.set(settings);
    expect(await straight.click('#train')).toBe('Trained');

    const visitor = await newVisitor(site);
    const first = await DemoPage.open(visitor, site);
    await first.click('#made-up');
    await first.set(settings);
    await first.page.click('#train');
    await atStep(first, 60);
    expect(await first.click('#pause')).toBe('Paused');
    const paused = await first.figures();
    expect(paused['Pass']).toBe('1 of 3');
    await first.page.click('#go-on');
    await atStep(first, 350);
    expect(await first.click('#pause')).toBe('Paused');
    const stopped = await first.figures();
    await first.page.close();

    const second = await DemoPage.open(visitor, site);
    expect(await second.page.textContent('#status-text')).toBe('Paused: go on where it stopped');
    expect((await second.figures())['Step']).toBe(stopped['Step']!);
    expect(await second.page.locator('#curves canvas').count()).toBe(1);
    // The model answers before it goes on.
    await second.click('#asked button');
    await second.page.waitForSelector('#best table');
    expect(await second.click('#go-on')).toBe('Trained');
    const { 'Steps a second': _, ...figures } = await second.figures();
    const { 'Steps a second': __, ...expected } = await straight.figures();
    expect(figures).toEqual(expected);

    // Another training is compared with it.
    await second.set({ learningRate: 0.003, epochs: 1 });
    expect(await second.click('#train')).toBe('Trained');
    expect(await second.page.locator('#runs input:checked').count()).toBe(2);
    await second.picture('compared');
    const third = await DemoPage.open(visitor, site);
    expect(await third.page.locator('#runs input').count()).toBe(2);
    expect(await third.page.isVisible('#go-on')).toBeFalse();

    await third.page.click('#forget');
    await third.page.waitForFunction(() => document.getElementById('training')!.hidden);
    const fourth = await DemoPage.open(visitor, site);
    expect(await fourth.page.isVisible('#training')).toBeFalse();
    expect([first, second, third, fourth, straight].flatMap(({ complaints }) => complaints)).toEqual([]);
  }, 240_000);

  it('refuse a second one beside them', async () => {
    const site = openedSite();
    const demo = await DemoPage.open(await newVisitor(site), site);
    await demo.click('#made-up');
    await demo.page.click('#train');
    await atStep(demo, 20);
    expect(await demo.page.isDisabled('#train')).toBeTrue();
    await demo.page.setInputFiles('#model-file', {
      name: 'a.zip',
      mimeType: 'application/zip',
      buffer: Buffer.from('a'),
    });
    await demo.page.waitForFunction(() => !document.getElementById('alert')!.hidden);
    expect(await demo.wrong()).toBe('A training is running: pause it first.');
    await demo.page.click('#pause');
    expect(await demo.calm()).toBe('Paused');
    await demo.page.setInputFiles('#model-file', {
      name: 'a.zip',
      mimeType: 'application/zip',
      buffer: Buffer.from('a'),
    });
    await demo.page.waitForFunction(() => document.getElementById('alert')!.textContent!.startsWith('a.zip'));
    expect(await demo.wrong()).toBe('a.zip holds no model: choose the zip file that was downloaded here.');
    expect(demo.complaints).toEqual([]);
  }, 120_000);

  const csv = (lines: number): { name: string; mimeType: string; buffer: Buffer } => {
    const rows = Array.from({ length: lines }, (_, i) => `u${i % 40},i${(i * 7 + (i % 40)) % 30},${i % 5}`);
    return { name: 'other.csv', mimeType: 'text/csv', buffer: Buffer.from(['user,item,place', ...rows].join('\n')) };
  };

  it('go on after one that was refused, and on their own data where another file was chosen', async () => {
    const site = openedSite();
    const visitor = await newVisitor(site);
    const first = await DemoPage.open(visitor, site);
    await first.click('#made-up');
    await first.set(settings);
    await first.page.click('#train');
    await atStep(first, 60);
    expect(await first.click('#pause')).toBe('Paused');
    await first.page.setInputFiles('#file', csv(50));
    await first.page.waitForFunction(() => document.getElementById('status-text')!.textContent === 'Ready to train');
    // There is nothing to recommend by.
    for (const column of ['user', 'place'])
      await first.page.selectOption(`[aria-label="Kind of ${column}"]`, 'ignored');
    await first.click('#train');
    expect(await first.page.textContent('#alert')).toContain('Nothing is left to recommend by');
    expect(await first.page.isVisible('#go-on')).toBeTrue();
    await first.page.close();
    const second = await DemoPage.open(visitor, site);
    expect(await second.click('#go-on')).toBe('Trained');
    expect((await second.figures())['Pass']).toBe('3 of 3');
    await visitor.close();
  }, 240_000);

  it('of choices among few rows have a score, and a model that was loaded is there at the next visit', async () => {
    const site = openedSite();
    const visitor = await newVisitor(site);
    const first = await DemoPage.open(visitor, site);
    await first.page.setInputFiles('#file', csv(900));
    await first.page.waitForFunction(() => document.getElementById('status-text')!.textContent === 'Ready to train');
    await first.set({ epochs: 1, dim: 4, batch: 64 });
    expect(await first.click('#train')).toBe('Trained');
    expect(Number((await first.figures())['recall@20'])).toBeGreaterThanOrEqual(0);
    const downloading = first.page.waitForEvent('download');
    await first.page.click('#download');
    const model = await (await downloading).path();
    await first.page.setInputFiles('#model-file', model);
    await first.page.waitForFunction(() => /was loaded$/.test(document.getElementById('status-text')!.textContent));
    await first.page.close();
    const second = await DemoPage.open(visitor, site);
    expect(await second.page.textContent('#status-text')).toContain('was loaded');
    expect(await second.page.isVisible('#go-on')).toBeFalse();
    await second.click('#asked button');
    await second.page.waitForSelector('#best table');
    await visitor.close();
  }, 240_000);
});
