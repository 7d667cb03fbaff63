/** A page that trains on the emulator, on its own thread or in a worker of its own. */
import { readFileSync, readdirSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { ROOT, SCRIPTS, TFJS, TFJS_WASM } from './libraries.js';
import { serve } from './server.js';

export interface Devices {
  count: number;
  kind: string;
  host: string;
  inlineBecause?: string;
}

export interface Trained {
  predictions: number[];
  losses: number[];
  tableGroups: Record<string, number[]>;
  slices: number;
  devices: Devices;
  kernels: Record<string, { implementation: string }>;
  /** Tensors that were left behind. */
  tensors: number;
}

const WORKER = `/test/browser/emulator_worker.js?${new URLSearchParams({ tfjs: TFJS, wasm: TFJS_WASM })}`;

const PAGE = `<!doctype html>
${SCRIPTS}
<script type="module">
  import { tasks } from '/test/browser/emulator_tasks.js';
  tf.wasm.setWasmPaths('${TFJS_WASM}/');
  window.onPage = async (task, args) => {
    await tfjsEmbeddings.ready();
    return tasks[task](tf, tfjsEmbeddings, args);
  };
  let worker = null;
  window.inWorker = (task, args) => new Promise((resolve, reject) => {
    worker ??= new Worker('${WORKER}');
    worker.onmessage = ({ data }) => 'error' in data ? reject(new Error(data.error)) : resolve(data.result);
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.postMessage({ task, args });
  });
  window.endWorker = () => {
    worker?.terminate();
    worker = null;
  };
  window.loaded = true;
</script>`;

/** Where a task runs: on the thread of the page, or in a worker. */
export type Place = 'onPage' | 'inWorker';

export class EmulatorPage {
  private constructor(
    private readonly page: Page,
    /** Errors that nobody caught. */
    readonly failures: string[],
    readonly close: () => Promise<void>,
  ) {}

  /** Opens the page; `headers` come with all that the server sends. */
  static async open(browser: Browser, headers: Record<string, string>): Promise<EmulatorPage> {
    const server = await serve(ROOT, { '/index.html': PAGE }, headers);
    const page = await browser.newPage();
    const failures: string[] = [];
    page.on('pageerror', (error) => failures.push(error.message));
    await page.goto(`${server.origin}/index.html`);
    await page.waitForFunction('window.loaded === true');
    return new EmulatorPage(page, failures, async () => {
      await page.close();
      await server.close();
    });
  }

  /** Runs one of the tasks of emulator_tasks.js. */
  run<T>(place: Place, task: string, args: object = {}): Promise<T> {
    return this.page.evaluate(`window.${place}('${task}', ${JSON.stringify(args)})`);
  }

  isIsolated(): Promise<boolean> {
    return this.page.evaluate('window.crossOriginIsolated');
  }

  /** Ends the worker of the page, whatever it does. */
  endWorker(): Promise<void> {
    return this.page.evaluate('window.endWorker()');
  }
}

/** Threads of workers in all pages of a browser, as Linux tells them. */
export async function workerThreads(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  const names = processInfo.flatMap(({ id }) => threadNames(id));
  return names.filter((name) => name.startsWith('DedicatedWorker')).length;
}

/** Threads may end while they are listed. */
function threadNames(process: number): string[] {
  const orGone = <T>(read: () => T[]): T[] => {
    try {
      return read();
    } catch {
      return [];
    }
  };
  const tasks = `/proc/${process}/task`;
  return orGone(() => readdirSync(tasks)).flatMap((task) =>
    orGone(() => [readFileSync(`${tasks}/${task}/comm`, 'utf8')]),
  );
}
