/** `npm run mutate`: changes the sources in many small ways and counts how many of the changes the specs notice. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Request } from './measure.js';
import { measureSources } from './measure_sources.js';
import { gatherReach } from './reach/gather.js';
import { ReachMap } from './reach/reach_map.js';
import { changedLines } from '../../test/changes/changed_lines.js';
import { findRooms, roomsOf, specFilesOf, type Room } from './rooms.js';
import { isEnough, tallyText, type Tally } from './tally.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** Share that a failed expectation must catch of what nothing else stops. */
const NEEDED = { source: 0.9, native: 0.85 };

/** Of the changes of new lines, for each room. */
const CHANGED_SAMPLE = 20;

const HELP = `npm run mutate [-- ROOM …] [options]

Changes the sources of a room in many small ways, one at a time, in a copy of the tree, and runs the specs that reach the
change until one notices it. Prints each change that none noticed, and how many were caught: 90 % are needed, of C 85 %.

ROOM is one of: ${[...roomsOf(root).keys()].join(', ')};
native (all C); or the path of a folder or file under src or custom-ops. Without ROOM: all of them, which takes long.

  --sample N   N changes drawn at random (without it: all)
  --seed S     draws others (1)
  --file TEXT  only in sources whose path holds TEXT
  --seconds S  how long the specs for one change may take (120)
  --changed R  only in lines that are new since the revision R (without --sample: 20 changes); '' for the working tree, or
               the last commit where nothing is new; rooms without such lines are passed over
  --again      only what was not caught the last time (no measure of anything)
  --gather     learns which blocks each spec file reaches, of all rooms, and ends
  --help       this text

What became of a change:
  caught       an expectation failed; its spec fails again with the change, and passes without it
  survived     every spec that ran passed
  only threw   no expectation failed, but something was thrown in a spec: whatever runs the line would notice
  hung         a spec file did not end
  crashed      the process ended, or the sources could not be loaded
  equivalent   it makes no difference; tools/mutations/equivalents.json gives the reason
The share is that of the caught among the caught and the survived. The others count for neither side and are printed
apart; a change that does not compile is replaced by another one. Equivalents may be 5 % of a sample.

Changes of TypeScript are tried in one process that holds them all, each behind a switch: of the spec files that import
the source or speak of it, near and quick ones first, those specs run that reach the change. What none of them notices is
tried in a process of its own. Texts of messages are not changed; message_text.ts says which.
`;

/** The room with some of its sources alone; none where it has none of them. */
function partOf(room: Room, files: readonly string[]): Room[] {
  const sources = room.sources.filter((source) => files.includes(source));
  return sources.length === 0 ? [] : [{ ...room, sources }];
}

function wholeNumber(text: string | undefined, name: string, least: number): number | null {
  if (text === undefined) return null;
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < least)
    throw new Error(`--${name}: a whole number from ${least} on, not ${text}`);
  return value;
}

async function measure(room: Room, request: Request): Promise<Tally> {
  if (!room.isNative) return measureSources(root, room, request);
  const { measureNative } = await import('./native/measure_native.js');
  return measureNative(root, room, request);
}

async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      sample: { type: 'string' },
      seed: { type: 'string' },
      file: { type: 'string' },
      seconds: { type: 'string' },
      again: { type: 'boolean' },
      changed: { type: 'string' },
      gather: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const changed = values.changed === undefined ? null : changedLines(root, values.changed || null);
  const request: Request = {
    sample: wholeNumber(values.sample, 'sample', 1) ?? (changed === null ? null : CHANGED_SAMPLE),
    lines: changed,
    seed: wholeNumber(values.seed, 'seed', 0) ?? 1,
    again: values.again ?? false,
    file: values.file ?? null,
    seconds: wholeNumber(values.seconds, 'seconds', 1) ?? 120,
  };
  const asked =
    positionals.length > 0 ? positionals.flatMap((name) => findRooms(root, name)) : [...roomsOf(root).values()];
  const rooms = changed === null ? asked : asked.flatMap((room) => partOf(room, [...changed.keys()]));
  if (rooms.length === 0) console.log('no source has new lines');
  if (values.gather) {
    await gatherReach(root, new ReachMap(root), specFilesOf(root));
    return 0;
  }
  const lines: string[] = [];
  let isFine = true;
  for (const room of rooms) {
    console.log(`${room.name}:`);
    const begun = Date.now();
    const tally = await measure(room, request);
    const needed = room.isNative ? NEEDED.native : NEEDED.source;
    isFine &&= isEnough(tally, needed);
    console.log(`  ${((Date.now() - begun) / 60_000).toFixed(1)} min`);
    lines.push(tallyText(room.name, tally, needed));
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
