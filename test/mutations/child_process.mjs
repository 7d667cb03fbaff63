/** Loaded into every process that specs start: notes at its end which mutants it reached (see child_processes.ts). */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

process.on('exit', () => {
  const folder = process.env.MUTATIONS_REACHED;
  const coverage = globalThis.__stryker__?.mutantCoverage;
  if (folder === undefined || coverage === undefined) return;
  const reached = [coverage.static, ...Object.values(coverage.perTest)].flatMap((hits) => Object.keys(hits));
  writeFileSync(join(folder, `${randomUUID()}.json`), JSON.stringify(reached));
});
