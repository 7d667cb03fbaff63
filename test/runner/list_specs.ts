/**
 * Prints the file and the name of every spec, without running any:
 *
 *   node --import ./custom-ops/typescript/register.mjs test/runner/list_specs.ts > before.txt
 *   node --import ./custom-ops/typescript/register.mjs test/runner/list_specs.ts before.txt
 *
 * The second says what is gone, new or in another file since.
 */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { startJasmine } from './jasmine.js';
import { compareNames, type SpecName } from './spec_names.js';
import { TEST_FOLDER, specFiles } from './spec_files.js';

interface Node {
  readonly children?: readonly Node[];
  getFullName(): string;
}

const namesIn = (node: Node): string[] =>
  node.children === undefined ? [node.getFullName()] : node.children.flatMap(namesIn);

async function allNames(): Promise<SpecName[]> {
  const { env } = startJasmine(TEST_FOLDER, { load: () => Promise.resolve() });
  const names: SpecName[] = [];
  for (const { name: file, path } of specFiles()) {
    env.parallelReset();
    await import(pathToFileURL(path).href);
    for (const name of namesIn(env.topSuite() as unknown as Node)) names.push({ file, name });
  }
  return names;
}

const oneLine = ({ file, name }: SpecName): string => `${file}\t${name.replaceAll('\n', '\\n')}`;
const [before] = process.argv.slice(2);
const names = await allNames();
if (before === undefined) process.stdout.write(names.map((name) => `${oneLine(name)}\n`).join(''));
else {
  const lines = readFileSync(before, 'utf8').split('\n').filter(Boolean);
  const old = lines.map((line) => ({ file: line.split('\t')[0]!, name: line.slice(line.indexOf('\t') + 1) }));
  const { gone, added, moved } = compareNames(
    old,
    names.map(({ file, name }) => ({ file, name: name.replaceAll('\n', '\\n') })),
  );
  const tell = (what: string, list: readonly string[]): void =>
    void process.stdout.write(`${what}: ${list.length}\n${list.map((line) => `  ${line}\n`).join('')}`);
  process.stdout.write(`${old.length} specs before, ${names.length} now\n`);
  tell('gone', gone.map(oneLine));
  tell('new', added.map(oneLine));
  tell(
    'moved',
    moved.map(({ from, to, name }) => `${from} -> ${to}\t${name}`),
  );
}
process.stdout.write('', () => process.exit(0));
