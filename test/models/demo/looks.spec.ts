// runner: servers
/** How the demo looks and is used: on phones and wide screens, dark and light, by keyboard and by readers of the screen. */
import type { Page } from 'playwright-core';
import { DemoPage, newVisitor, siteForSpecs } from './demo_page.js';

/** What is wrong with what is seen; run in the page. */
function faults(): string[] {
  const { clientWidth, scrollWidth } = document.documentElement;
  const found = scrollWidth > clientWidth ? [`the page is ${scrollWidth - clientWidth} pixels too wide`] : [];
  const isSeen = (element: Element): boolean => element.getClientRects().length > 0;
  const all = Array.from(document.querySelectorAll<HTMLElement>('button, input, select, canvas, [role=img]')).filter(
    isSeen,
  );
  for (const element of all) {
    const labels = Array.from((element as HTMLInputElement).labels ?? []);
    const name = element.ariaLabel ?? (labels.map((label) => label.textContent).join('') || element.textContent);
    const isDrawn = element.closest('#curves') !== null;
    if (name.trim() === '' && !isDrawn) found.push(`no name: ${element.outerHTML.slice(0, 80)}`);
    const { right, width } = element.getBoundingClientRect();
    if (width > 1 && right > clientWidth + 0.5) found.push(`beyond the edge: ${element.outerHTML.slice(0, 80)}`);
  }
  // Texts on their grounds, as WCAG 2 reckons contrast.
  const luminance = (text: string): number => {
    const parts = /rgba?\((\d+), (\d+), (\d+)/
      .exec(text)!
      .slice(1)
      .map((part) => Number(part) / 255);
    const [r, g, b] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
  };
  const groundOf = (element: Element): string => {
    const { backgroundColor } = getComputedStyle(element);
    const isClear = /, 0\)$/.test(backgroundColor);
    return isClear && element.parentElement !== null ? groundOf(element.parentElement) : backgroundColor;
  };
  for (const element of Array.from(
    document.querySelectorAll('h1,h2,p,th,td,dt,dd,button:not(:disabled),label,li'),
  ).filter(isSeen)) {
    const [a, b] = [luminance(getComputedStyle(element).color), luminance(groundOf(element))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) found.push(`contrast ${contrast.toFixed(2)}: ${element.outerHTML.slice(0, 80)}`);
  }
  return found;
}

describe('the demo', () => {
  const openedSite = siteForSpecs();

  /** Moves on by the keyboard until an element has the focus. */
  async function tabTo(page: Page, id: string): Promise<void> {
    for (let i = 0; i < 80; i++) {
      await page.keyboard.press('Tab');
      if ((await page.evaluate(() => document.activeElement?.id)) === id) return;
    }
    throw new Error(`the keyboard does not reach ${id}`);
  }

  for (const [width, colorScheme] of [
    [420, 'light'],
    [420, 'dark'],
    [1200, 'dark'],
  ] as const) {
    it(`fits ${width} pixels, ${colorScheme}, and is used by the keyboard alone`, async () => {
      const site = openedSite();
      const demo = await DemoPage.open(await newVisitor(site, { width, colorScheme }), site);
      const { page } = demo;
      expect(await page.evaluate(faults)).toEqual([]);
      await tabTo(page, 'made-up');
      await page.keyboard.press('Enter');
      expect(await demo.calm()).toBe('Ready to train');
      await tabTo(page, 'epochs');
      await page.keyboard.type('1');
      await page.keyboard.press('Enter');
      await page.waitForFunction(() => document.getElementById('status-text')!.textContent === 'Trained');
      await tabTo(page, 'draw');
      await page.keyboard.press('Space');
      await page.waitForSelector('#map-body:not([hidden])');
      await demo.calm();
      await tabTo(page, 'find');
      await page.keyboard.type('The Silent Harbour (Crime)');
      await page.keyboard.press('Tab');
      await page.waitForSelector('#near table');
      await page.focus('#asked button');
      await page.keyboard.press('Enter');
      await page.waitForSelector('#best table');
      await demo.picture(`${width}-${colorScheme}`);
      expect(await page.evaluate(faults)).toEqual([]);
      expect(demo.complaints).toEqual([]);
    }, 180_000);
  }
});
