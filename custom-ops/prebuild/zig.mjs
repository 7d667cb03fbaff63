/** The compiler for all platforms: one release of zig, out of its Python wheel, whose hash is known here. */
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { firstLine, gist, run } from '../setup/command.mjs';
import { build } from '../setup/places.mjs';
import { unfinished } from '../setup/unfinished.mjs';
import { pythonWithPip } from '../setup/wheel.mjs';

export const ZIG_VERSION = '0.17.1';

/** The sha256 of the wheel by the machine that compiles. */
const WHEELS = {
  'linux-x64': 'ea6cc5d87b033cf0aedfbc8f9549a908cae6c50ac31f1698188fa48a74524b54',
  'linux-arm64': 'b7c5f02fccd40f89b999ee16a1f5ddced56e6182370f8affe494bcf8a28cf07e',
};

/** Where compilers work: set-up, which may run meanwhile, clears what is unfinished in the folder above. */
export const workshop = join(build, 'prebuild');

const folder = join(workshop, `zig-${ZIG_VERSION}`);

/** The path of zig, which is fetched first where it is not there. Throws an Error that says what is missing. */
export async function zig(log) {
  const command = join(folder, 'ziglang', 'zig');
  if (!existsSync(command)) await fetchZig(log);
  const version = firstLine(command, ['version']);
  if (version !== ZIG_VERSION) throw new Error(`${command}: expected zig ${ZIG_VERSION}, received ${version}`);
  return command;
}

/** Has pip fetch the wheel, compare its hash and unpack it, so that the folder is there whole or not at all. */
async function fetchZig(log) {
  const sha256 = WHEELS[`${process.platform}-${process.arch}`];
  if (sha256 === undefined) {
    throw new Error(`expected a machine with Linux on x64 or arm64, received ${process.platform} on ${process.arch}`);
  }
  const python = pythonWithPip();
  if (python.missing) throw new Error(`${python.missing}: zig comes through pip`);
  const temporary = unfinished(folder);
  rmSync(temporary, { recursive: true, force: true });
  mkdirSync(temporary, { recursive: true });
  const list = join(temporary, 'requirements.txt');
  writeFileSync(list, `ziglang==${ZIG_VERSION} --hash=sha256:${sha256}\n`);
  log(`fetching zig ${ZIG_VERSION} through pip`);
  const args = ['--no-deps', '--no-compile', '--only-binary=:all:', '--require-hashes', '--target', temporary];
  try {
    await run(python.command, [
      '-m',
      'pip',
      'install',
      '--no-input',
      '--disable-pip-version-check',
      ...args,
      '-r',
      list,
    ]);
  } catch (error) {
    throw new Error(`pip could not install zig ${ZIG_VERSION}: ${gist(error)}`, { cause: error });
  }
  rmSync(folder, { recursive: true, force: true });
  renameSync(temporary, folder);
}

/** The date in files for Windows: the one that npm gives to what it packs. */
const DATE = '499162500';

/**
 * The variables that zig runs with: its libraries for all targets lie in the build folder, and what it compiled of ours
 * in `objects`, of one build alone, so that each build compiles all.
 */
export function zigEnvironment(objects) {
  return { ZIG_GLOBAL_CACHE_DIR: join(workshop, 'zig-cache'), ZIG_LOCAL_CACHE_DIR: objects, SOURCE_DATE_EPOCH: DATE };
}
