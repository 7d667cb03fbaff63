/**
 * Runs the specs: `npm test`, or `npm test -- ops/ "names the position"` for the spec files or specs that hold a text.
 * The order is fixed: files by path, specs as written. So is what specs draw at random: TFJS_EMBEDDINGS_TEST_SEED gives
 * other draws. Prints one line per file, then failures in full, then the count.
 */
import { readdirSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { specIds, startJasmine } from './runner/jasmine.js';
import { SpecReporter } from './runner/spec_reporter.js';

const here = dirname(fileURLToPath(import.meta.url));

function specFiles(): string[] {
  const entries = readdirSync(here, { recursive: true, encoding: 'utf8' });
  return entries
    .filter((name) => name.endsWith('.spec.ts'))
    .sort()
    .map((name) => join(here, name));
}

async function main(patterns: readonly string[]): Promise<number> {
  const reporter = new SpecReporter((text) => process.stdout.write(text));
  const nameOf = (path: string): string => relative(dirname(here), path).split(sep).join('/');
  const files = specFiles();
  const byName = patterns.filter((pattern) => files.some((path) => nameOf(path).includes(pattern)));
  const byText = patterns.filter((pattern) => !byName.includes(pattern));
  const chosen =
    byName.length === 0 ? files : files.filter((path) => byName.some((text) => nameOf(path).includes(text)));

  let seen = new Set<string>();
  const runner = startJasmine(dirname(here), {
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
  });
  runner.addReporter(reporter);
  if (byText.length > 0) {
    runner.env.configure({
      specFilter: (spec: { getFullName(): string }) => byText.some((text) => spec.getFullName().includes(text)),
    });
  }
  const { overallStatus } = chosen.length === 0 ? { overallStatus: 'nothing' } : await runner.execute(chosen);
  return reporter.close(overallStatus);
}

const code = await main(process.argv.slice(2));
// Written out before exit: a pipe may still hold the last lines.
process.stdout.write('', () => process.exit(code));
