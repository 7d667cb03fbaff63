/** Fetches TensorFlow's wheel through pip, with the machine's own pip configuration. */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { firstLine, gist, run } from './command.mjs';
import { downloadProgress } from './progress.mjs';

/** The release of TensorFlow that the wheel holds. */
export const TENSORFLOW_VERSION = '2.21.0';

/** The Python that the wheel is for: any one will do, as only its C libraries are used. */
const PYTHON_VERSION = '3.11';

const WHEELS = {
  'linux-x64': { project: 'tensorflow-cpu', platform: 'manylinux_2_27_x86_64' },
  'linux-arm64': { project: 'tensorflow', platform: 'manylinux_2_27_aarch64' },
  'darwin-arm64': { project: 'tensorflow', platform: 'macosx_12_0_arm64' },
};

/** Which wheel holds TensorFlow's C libraries for a platform, or {missing: why}. */
export function wheelFor(platform = process.platform, arch = process.arch) {
  const wheel = WHEELS[`${platform}-${arch}`];
  if (wheel !== undefined) return wheel;
  const note =
    platform === 'win32'
      ? "the wheel for Windows exports no C API; give TensorFlow's C package in LIBTENSORFLOW_DIR"
      : 'name a folder with lib and include in LIBTENSORFLOW_DIR';
  return { missing: `no TensorFlow ${TENSORFLOW_VERSION} wheel for ${platform} ${arch}: ${note}` };
}

/** A Python with pip: PYTHON, python3 or python. {command} or {missing: why}. */
export function pythonWithPip() {
  const named = process.env.PYTHON;
  const reasons = [];
  for (const command of named ? [named] : ['python3', 'python']) {
    if (firstLine(command, ['-c', 'print(1)']) === null) reasons.push(`${command} cannot be run`);
    else if (firstLine(command, ['-m', 'pip', '--version']) === null) reasons.push(`${command} has no pip`);
    else return { command };
  }
  return { missing: reasons.join(', ') };
}

/** Downloads the wheel into `folder` and returns its path. pip checks it against the hash of the package index. */
export async function downloadWheel(wheel, python, folder, log) {
  rmSync(folder, { recursive: true, force: true });
  const scratch = join(folder, 'pip');
  mkdirSync(scratch, { recursive: true });
  const bar = process.stderr.isTTY === true;
  const args = [
    ...['-m', 'pip', 'download', `${wheel.project}==${TENSORFLOW_VERSION}`, '--no-deps', '--only-binary=:all:'],
    ...['--platform', wheel.platform, '--python-version', PYTHON_VERSION, '--implementation', 'cp'],
    ...['--abi', `cp${PYTHON_VERSION.replace('.', '')}`, '--dest', folder],
    ...['--no-input', '--disable-pip-version-check', '--retries', '2'],
    ...(bar ? [] : ['--progress-bar', 'off']),
  ];
  log(`fetching ${wheel.project} ${TENSORFLOW_VERSION} through pip`);
  const progress = bar ? { onText: undefined, stop: () => {} } : downloadProgress(folder, log);
  try {
    // pip writes to its temporary folder first: have it here, where the space is needed anyway and can be watched.
    const env = { TMPDIR: scratch, TEMP: scratch, TMP: scratch, PYTHONUNBUFFERED: '1' };
    await run(python.command, args, { env, show: bar ? 'all' : 'nothing', onText: progress.onText });
  } catch (error) {
    throw new Error(`pip could not fetch ${wheel.project} ${TENSORFLOW_VERSION}: ${gist(error)}`);
  } finally {
    progress.stop();
  }
  const path = wheelIn(folder);
  if (path === null) throw new Error(`pip left no wheel of ${wheel.project} behind`);
  log(`fetched ${(statSync(path).size / 1e6).toFixed(0)} MB`);
  return path;
}

/** A wheel that lies in `folder`, from now or from a set-up that was ended early; null when there is none. */
export function wheelIn(folder) {
  try {
    const name = readdirSync(folder).find((entry) => entry.endsWith('.whl'));
    return name === undefined ? null : join(folder, name);
  } catch {
    return null;
  }
}

/** Why a file is not the wheel of this release, by its name; null where it may be. */
export function misnamed(path) {
  const release = /^tensorflow(?:_cpu)?-(\d+\.\d+\.\d+)-/.exec(basename(path))?.[1];
  if (!existsSync(path)) return `--tensorflow: ${path} is not there`;
  if (release === TENSORFLOW_VERSION) return null;
  return `--tensorflow: expected a wheel of TensorFlow ${TENSORFLOW_VERSION}, received ${basename(path)}`;
}
