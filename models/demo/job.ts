/** Builds the page, serves it, and says where. */
import { fileURLToPath } from 'node:url';
import { bundlePage, type PageFiles } from '../page/bundle.js';
import { openBrowser } from '../page/open_browser.js';
import { servePage } from '../page/server.js';
import type { Options } from './options.mjs';

/** The files of the page. */
export function buildDemo(): Promise<PageFiles> {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  return bundlePage({ folder, entries: { page: 'page/main.ts', worker: 'worker/main.ts' } });
}

export async function run({ port, open }: Options): Promise<void> {
  const { url } = await servePage(await buildDemo(), port);
  process.stdout.write(`${url}\nCtrl+C ends it.\n`);
  if (open) openBrowser(url);
}
