/**
 * Runs the specs: `npm test`, or `npm test -- ops/ "names the position"` for the spec files or specs that hold a text.
 * The order is fixed: files by path, specs as written. So is what specs draw at random: TFJS_EMBEDDINGS_TEST_SEED gives
 * other draws. Prints one line per file, then failures in full, then the count.
 */
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { SeededLuck } from './runner/seeded_luck.js';
import { SpecReporter } from './runner/spec_reporter.js';

interface Runner {
  readonly env: jasmine.Env & { configure(options: object): void };
  exitOnCompletion: boolean;
  clearReporters(): void;
  addReporter(reporter: object): void;
  addMatchingSpecFiles(files: string[]): void;
  execute(files: string[] | null): Promise<{ overallStatus: string }>;
}

interface Loader {
  load(path: string): Promise<void>;
}

const here = dirname(fileURLToPath(import.meta.url));
const TIMEOUT_MS = 120_000;

function specFiles(): string[] {
  const entries = readdirSync(here, { recursive: true, encoding: 'utf8' });
  return entries
    .filter((name) => name.endsWith('.spec.ts'))
    .sort()
    .map((name) => join(here, name));
}

/** Ids of a suite's specs, at any depth. */
function specIds(suite: { children: unknown[] }): string[] {
  return suite.children.flatMap((child) => {
    const node = child as { id: string; children?: unknown[] };
    return node.children === undefined ? [node.id] : specIds({ children: node.children });
  });
}

async function main(patterns: readonly string[]): Promise<number> {
  const require = createRequire(import.meta.url);
  const Jasmine = require('jasmine') as new (options: { projectBaseDir: string; loader: Loader }) => Runner;
  const reporter = new SpecReporter((text) => process.stdout.write(text));
  const nameOf = (path: string): string => relative(dirname(here), path).split(sep).join('/');
  const files = specFiles();
  const byName = patterns.filter((pattern) => files.some((path) => nameOf(path).includes(pattern)));
  const byText = patterns.filter((pattern) => !byName.includes(pattern));
  const chosen =
    byName.length === 0 ? files : files.filter((path) => byName.some((text) => nameOf(path).includes(text)));

  let seen = new Set<string>();
  const loader: Loader = {
    async load(path) {
      try {
        await import(pathToFileURL(path).href);
      } catch (error) {
        reporter.fileFailed(nameOf(path), error);
      }
      const ids = specIds(runner.env.topSuite() as unknown as { children: unknown[] });
      for (const id of ids) if (!seen.has(id)) reporter.belongs(id, nameOf(path));
      seen = new Set(ids);
    },
  };
  const runner = new Jasmine({ projectBaseDir: dirname(here), loader });
  runner.exitOnCompletion = false;
  runner.clearReporters();
  runner.addReporter(reporter);
  runner.addReporter(new SeededLuck(process.env['TFJS_EMBEDDINGS_TEST_SEED'] ?? '1'));
  runner.env.configure({ random: false });
  if (byText.length > 0) {
    runner.env.configure({
      specFilter: (spec: { getFullName(): string }) => byText.some((text) => spec.getFullName().includes(text)),
    });
  }
  jasmine.DEFAULT_TIMEOUT_INTERVAL = TIMEOUT_MS;
  const { overallStatus } = chosen.length === 0 ? { overallStatus: 'nothing' } : await runner.execute(chosen);
  return reporter.close(overallStatus);
}

const code = await main(process.argv.slice(2));
// Written out before exit: a pipe may still hold the last lines.
process.stdout.write('', () => process.exit(code));
