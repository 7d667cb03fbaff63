/** Errors of the TPU embedding API name what the caller can write: an argument, a field, a method. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../helpers/project.js';

const FOLDER = join(ROOT, 'src', 'tpu');
const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
const sources = files.map((name) => readFileSync(join(FOLDER, name), 'utf8'));
/** What errors and checks name by a plain text, up to the first dot or bracket. */
const NAMED = /(?:new (?:ValueError|RuntimeError|ArgumentTypeError)\(|shardCount\([^;]*?)\s*'([a-zA-Z]+)[^']*'/g;
const named = new Set(sources.flatMap((source) => [...source.matchAll(NAMED)].map(([, name]) => name!)));
const settings = readFileSync(join(ROOT, 'src', 'backends', 'emulator', 'settings.ts'), 'utf8');

/** Declared as a field, a parameter or a method, or among the fields that a config takes. */
function isDeclared(name: string): boolean {
  const declared = new RegExp(`(^|[\\s(,{])(readonly |get |async )?${name}\\??\\s*[:(]|['"]${name}['"],`, 'm');
  const apart = (source: string): string => source.replaceAll(NAMED, '');
  return [...sources, settings].some((source) => declared.test(apart(source)));
}

describe('errors of src/tpu', () => {
  it('name something, many of them', () => {
    expect(named.size).toBeGreaterThan(30);
    expect(isDeclared('numScShards')).toBeFalse();
    expect(isDeclared('maxIdsPerChip')).toBeFalse();
  });

  for (const name of [...named].sort()) {
    it(`name ${name}, which there is`, () => {
      expect(isDeclared(name)).toBeTrue();
    });
  }
});
