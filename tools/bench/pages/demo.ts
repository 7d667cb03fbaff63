/**
 * The page of the demo in Chromium: how long a cold load takes until it answers, and the tasks of the main thread that
 * take longer than 50 ms while a model trains in the worker, without curves and with them. Prints one JSON line.
 *   node --import tsx tools/bench/pages/demo.ts [--seconds 15]
 */
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { DemoPage, newVisitor, openSite } from '../../../test/models/demo/demo_page.js';
import { Load, printLine } from '../stopwatch.js';

const { values: given } = parseArgs({ options: { seconds: { type: 'string', default: '15' } } });

/** Keeps how long tasks have taken that were long. */
const WATCH = `globalThis.longTasks = [];
new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration)))
  .observe({ type: 'longtask' });`;

async function longTasks(page: Page): Promise<number[]> {
  await page.evaluate('longTasks.length = 0');
  await page.waitForTimeout(1000 * Number(given.seconds));
  return page.evaluate('longTasks');
}

const site = await openSite();
if ('missing' in site) throw new Error(site.missing);
try {
  const visitor = await newVisitor(site);
  await visitor.addInitScript(WATCH);
  const load = new Load();
  const begun = performance.now();
  const demo = await DemoPage.open(visitor, site);
  await demo.page.click('#made-up');
  const coldLoadMs = performance.now() - begun;
  await demo.calm();
  await demo.set({ epochs: 1000 });
  await demo.page.uncheck('#live');
  await demo.page.click('#train');
  // What the first answers show is not of the training.
  await demo.page.waitForFunction(() => Number(document.querySelectorAll('#figures dd')[1]?.textContent ?? 0) > 20);
  const withoutCurves = await longTasks(demo.page);
  await demo.page.check('#live');
  const withCurves = await longTasks(demo.page);
  const steps = (await demo.figures())['Steps a second'];
  await demo.click('#pause');
  printLine({
    bench: 'demo',
    coldLoadMs: Math.round(coldLoadMs),
    longTasksWithoutCurves: withoutCurves,
    longestWithCurvesMs: withCurves.length === 0 ? 'below 50' : Math.max(...withCurves),
    stepsPerSecond: steps,
    otherCpu: load.ofOthers(),
  });
} finally {
  await site.close();
}
