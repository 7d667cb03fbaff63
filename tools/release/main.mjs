/** `npm run release`: see HELP. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import * as api from './api/comparison.mjs';
import { reportsOf } from './api/reports.mjs';
import { LICENSES_PAGE, licensesPage } from './licenses.mjs';
import { writeOutput } from './output.mjs';
import { packTwice } from './twice.mjs';
import { objections, released } from './version.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const HELP = `npm run release -- VERSION [--write]
npm run release -- --output FOLDER
npm run release -- --licenses
npm run release -- --twice

  VERSION          says whether this version may follow the last one, and what the release changes
  --write          makes the changes: the version in package.json and package-lock.json, platform packages included,
                   the date in CHANGELOG.md, and the declared types in tools/release/VERSION; commits nothing
  --output FOLDER  packs the version of package.json: archives, bill of materials, licences, checksums
  --licenses       writes docs/licenses.md
  --twice          packs what is committed in two clones and compares the archives; takes minutes
  -h, --help       this text

A version is refused that breaks the last one without saying so by its number, and where files are not committed or
CHANGELOG.md says nothing.
`;

const read = (name) => readFileSync(join(ROOT, name), 'utf8');

/** Files that git would commit or does not know. */
function changed() {
  const { status, stdout } = spawnSync('git', ['status', '--porcelain'], { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error('git status failed: a release needs a clone and git');
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.slice(3)]));
}

function keepTypes(version, reports) {
  const folder = join(ROOT, 'tools', 'release', version, 'api');
  mkdirSync(folder, { recursive: true });
  for (const [entry, report] of reports) writeFileSync(join(folder, `${entry}.api.md`), report);
  writeFileSync(join(ROOT, 'tools', 'release', 'deliberate.json'), '[]\n');
}

function release(version, isWritten) {
  const reports = reportsOf(join(ROOT, 'dist'));
  const last = api.lastRelease();
  const breaks = api.allBreaks(api.releasedReports(last), reports);
  const { unlisted } = api.withoutListed(breaks, api.deliberate());
  const state = {
    version,
    last,
    manifest: read('package.json'),
    lock: read('package-lock.json'),
    changelog: read('CHANGELOG.md'),
    breaks,
    unlisted,
    changed: changed(),
  };
  const reasons = objections(state);
  for (const reason of reasons) console.error(reason);
  if (reasons.length > 0) return 1;
  const files = released(state, new Date().toISOString().slice(0, 10));
  console.log(`${version} follows ${last}, which it breaks in ${breaks.length} places`);
  console.log(
    `${isWritten ? 'written' : 'would write'}: ${Object.keys(files).join(', ')}, tools/release/${version}/api`,
  );
  if (!isWritten) return 0;
  for (const [name, text] of Object.entries(files)) writeFileSync(join(ROOT, name), text);
  keepTypes(version, reports);
  return 0;
}

function twice() {
  const { archives, differing } = packTwice();
  for (const name of differing) console.error(`differs: dist/${name}`);
  console.log(archives.join('\n'));
  return archives[0] === archives[1] ? 0 : 1;
}

async function main() {
  let given;
  try {
    given = parseArgs({
      allowPositionals: true,
      options: {
        write: { type: 'boolean', default: false },
        output: { type: 'string' },
        licenses: { type: 'boolean', default: false },
        twice: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    console.error(`${error.message}\n\n${HELP}`);
    return 2;
  }
  const { values, positionals } = given;
  const asked = [positionals.length > 0, values.output !== undefined, values.licenses, values.twice];
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  if (asked.filter(Boolean).length !== 1 || positionals.length > 1) {
    console.error(`one of a version, --output, --licenses and --twice\n\n${HELP}`);
    return 2;
  }
  if (values.licenses) writeFileSync(LICENSES_PAGE, await licensesPage());
  else if (values.output !== undefined) console.log(writeOutput(resolve(values.output)).join('\n'));
  else if (values.twice) return twice();
  else return release(positionals[0], values.write);
  return 0;
}

process.exitCode = await main();
