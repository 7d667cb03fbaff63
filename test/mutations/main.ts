/** `npm run mutate`: changes the sources in many small ways and counts how many of the changes the specs notice. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { measureSources, type Request } from './measure_sources.js';
import { ROOMS, type Measure } from './rooms.js';
import { isEnough, tallyText, type Tally } from './tally.js';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..', '..');

const HELP = `npm run mutate [-- ROOM …] [options]

Changes the sources of a room in many small ways, one at a time, and runs the specs that reach the change.
Prints each change that no spec noticed, and how many were caught; 85 % are needed.
Without ROOM: all of them, which takes long. Rooms: ${Object.keys(ROOMS).join(', ')}.

  --sample N   a random sample of N changes
  --seed S     draws another sample (1)
  --file TEXT  only in sources whose path holds TEXT
  --again      only the changes that survived the last time (no measure of anything)
  --help       this text

Changes that make no difference are listed, with the reason, in test/mutations/equivalents.json; those of the C sources
(room native), which are all written by hand, in test/mutations/native/patches.json. Texts of messages are not changed;
test/mutations/message_text.ts says which.
`;

function wholeNumber(text: string | undefined, name: string, least: number): number | null {
  if (text === undefined) return null;
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < least)
    throw new Error(`--${name}: a whole number from ${least} on, not ${text}`);
  return value;
}

async function measure(name: string, request: Request): Promise<Tally> {
  const room = ROOMS[name]!;
  if ('folder' in room) return measureSources(root, name, room, request);
  const path = join(here, room.program);
  if (!existsSync(path)) throw new Error(`${name}: there is no test/mutations/${room.program}`);
  const program = (await import(pathToFileURL(path).href)) as { measure: Measure };
  return program.measure(request);
}

async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      sample: { type: 'string' },
      seed: { type: 'string' },
      file: { type: 'string' },
      again: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const unknown = positionals.find((name) => !Object.hasOwn(ROOMS, name));
  if (unknown !== undefined) throw new Error(`no room ${unknown}; there are ${Object.keys(ROOMS).join(', ')}`);
  const request: Request = {
    sample: wholeNumber(values.sample, 'sample', 1),
    seed: wholeNumber(values.seed, 'seed', 0) ?? 1,
    again: values.again ?? false,
    file: values.file ?? null,
  };
  const lines: string[] = [];
  let isFine = true;
  for (const name of positionals.length > 0 ? positionals : Object.keys(ROOMS)) {
    console.log(`${name}:`);
    const begun = Date.now();
    const tally = await measure(name, request);
    isFine &&= isEnough(tally);
    console.log(`\n${((Date.now() - begun) / 60_000).toFixed(1)} min`);
    lines.push(tallyText(name, tally));
  }
  console.log(lines.join('\n'));
  return isFine ? 0 : 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 2;
}
