/**
 * Draws lines of src and custom-ops, and says what house they stand in: `npm run rooms -- --seed S`.
 *
 * For each line: its room, what the room may import, and which files import the file. Whoever knows that from path and
 * name alone knows the house.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { FLOORS, importsOf, roomOf, root, sources } from '../../test/check/house.mjs';
import { Random } from '../../test/helpers/random.js';

const HELP = `npm run rooms -- --seed S [--lines N]

  --seed S    whole number; the same seed draws the same lines of the same tree
  --lines N   how many (default: 20)
  -h, --help  this text
`;

/** Texts that set-up makes. */
const GENERATED = /\/(kernels_wasm|worker_source)\.ts$/;

interface House {
  readonly texts: ReadonlyMap<string, string>;
  readonly importers: ReadonlyMap<string, readonly string[]>;
}

function readHouse(): House {
  const paths = ['src', 'custom-ops'].flatMap((folder) => sources(folder)).filter((path) => !GENERATED.test(path));
  const texts = new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
  const importers = new Map<string, string[]>();
  for (const [path, text] of texts) {
    for (const other of importsOf(path, text)) importers.set(other, [...(importers.get(other) ?? []), path]);
  }
  return { texts, importers };
}

/** The rooms on the floors below. */
function mayImport(room: string | null): string {
  const floors = FLOORS as string[][];
  const floor = floors.findIndex((rooms) => room !== null && rooms.includes(room));
  if (floor < 0) return 'no floor is named for it';
  const below = floors.slice(floor + 1).flat();
  const own = below.filter((each) => each.startsWith('custom-ops/') === room!.startsWith('custom-ops/'));
  return own.length === 0 ? 'itself alone' : `itself, ${own.map((each) => each.replace(/^src\//, '')).join(', ')}`;
}

function called(importers: readonly string[]): string {
  if (importers.length === 0) return 'nothing here: an entry or a program';
  const shown = importers.slice(0, 5).join(', ');
  return importers.length > 5 ? `${shown} and ${importers.length - 5} more` : shown;
}

function draw(seed: number, count: number): string[] {
  const { texts, importers } = readHouse();
  const lines = [...texts].flatMap(([path, text]) =>
    text.split('\n').map((line, i) => ({ path, line, number: i + 1 })),
  );
  const full = lines.filter(({ line }) => /\w/.test(line));
  const random = new Random(seed);
  return Array.from({ length: count }, (_, i) => {
    const { path, line, number } = random.pick(full);
    const room = roomOf(path) as string | null;
    return [
      `${i + 1}. ${path}:${number}`,
      `   ${line.trim()}`,
      `   room: ${room ?? path.split('/').slice(0, 2).join('/')}`,
      `   may import: ${mayImport(room)}`,
      `   called by: ${called(importers.get(path) ?? [])}`,
    ].join('\n');
  });
}

function whole(name: string, text: string, least: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least) throw new Error(`--${name}: a whole number of at least ${least}`);
  return value;
}

function main(): number {
  try {
    const { values } = parseArgs({
      options: {
        help: { type: 'boolean', short: 'h' },
        seed: { type: 'string' },
        lines: { type: 'string', default: '20' },
      },
    });
    if (values.help === true) {
      process.stdout.write(HELP);
      return 0;
    }
    if (values.seed === undefined) throw new Error('--seed: a whole number is due');
    for (const line of draw(whole('seed', values.seed, 0), whole('lines', values.lines, 1))) console.log(line);
    return 0;
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${HELP}`);
    return 2;
  }
}

process.exitCode = main();
