/** Runs spec files over sources that count, to learn what each reaches. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { sourcesOf } from '../rooms.js';
import { makeSandbox } from '../sandbox.js';
import { runSpecs } from '../specs/spec_process.js';
import { blocksOf, withCounters } from './blocks.js';
import type { ReachMap } from './reach_map.js';

const LIMIT_SECONDS = 900;

/** Puts counters into every TypeScript source of a tree; source and key of each block, by its number. */
function count(tree: string): { source: string; key: string }[] {
  const all: { source: string; key: string }[] = [];
  for (const source of sourcesOf(tree).filter((path) => path.endsWith('.ts'))) {
    const path = join(tree, source);
    const text = readFileSync(path, 'utf8');
    const blocks = blocksOf(text);
    writeFileSync(path, withCounters(text, blocks, all.length));
    all.push(...blocks.map(({ key }) => ({ source, key })));
  }
  return all;
}

/** Gathers what is missing, and says how far it is. */
export async function gatherReach(root: string, reach: ReachMap, specs: readonly string[]): Promise<void> {
  const missing = reach.missing(specs);
  if (missing.length === 0) return;
  console.log(`  which blocks ${missing.length} spec files reach is gathered once, and kept`);
  const { tree, remove } = makeSandbox(root, 'reach');
  const folder = mkdtempSync(join(tmpdir(), 'reached-'));
  try {
    const blocks = count(tree);
    spawnSync(process.execPath, ['tools/mutations/devices.mjs', '--reach'], { cwd: tree, stdio: 'inherit' });
    const hook = pathToFileURL(join(tree, 'tools/mutations/reach/reach_hook.mjs')).href;
    const options = {
      tree,
      hunts: false,
      limitOf: () => LIMIT_SECONDS,
      imports: [hook],
      env: {
        MUTATIONS_REACHED: folder,
        NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --import=${hook}`,
      },
    };
    let left = [...missing];
    while (left.length > 0) {
      let last = left[0]!;
      const { hung, crash } = await runSpecs({
        ...options,
        files: left,
        hear(message) {
          last = message.file;
          if (message.kind === 'begins') return;
          if (message.kind === 'unloadable') console.log(`    ${message.file} cannot be loaded: ${message.message}`);
          const reached: Record<string, string[]> = {};
          for (const number of message.kind === 'ends' ? message.reached : []) {
            const { source, key } = blocks[number]!;
            (reached[source] ??= []).push(key);
          }
          const seconds = message.kind === 'ends' ? message.seconds : 0;
          reach.note(last, seconds, reached);
          if (message.kind === 'ends' && message.failures.length > 0)
            console.log(`    ${last}: ${message.failures.length} specs fail without a change`);
          left = left.slice(left.indexOf(last) + 1);
          const done = missing.length - left.length;
          if (done % 10 !== 0) return;
          console.log(`    ${done} of ${missing.length}`);
          reach.save();
        },
      });
      reach.save();
      if (hung === null && crash === null) break;
      console.log(`    ${last}: ${hung === null ? crash : 'hangs'}`);
      reach.note(last, LIMIT_SECONDS, {});
      left = left.slice(left.indexOf(last) + 1);
    }
    reach.save();
  } finally {
    rmSync(folder, { recursive: true, force: true });
    remove();
  }
}
