/** The addon in the package of this platform. Modules of Node alone: set-up and `info` use this file too. */
import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The platforms that have a package. */
const PLATFORMS = [
  'linux-x64',
  'linux-arm64',
  'linux-x64-musl',
  'linux-arm64-musl',
  'darwin-arm64',
  'darwin-x64',
  'win32-x64',
];

/** `platform`: as in the package's name. `path`: of the addon, or why there is none. `isFault`: what is there is wrong. */
export type PrebuiltAddon =
  | { readonly platform: string; readonly path: string }
  | { readonly platform: string; readonly lacking: string; readonly isFault: boolean };

interface Manifest {
  readonly version: string;
  readonly addon: { readonly file: string; readonly bytes: number; readonly sha256: string };
}

const PROGRAM_HEADER = 32; // where the header of an ELF file says at which byte the list of its segments begins
const INTERPRETER = 3; // the kind of segment that names the loader

/** The loader that an ELF file names, as `/lib/ld-musl-x86_64.so.1`; '' for other files and where it names none. */
function loaderOf(program: string): string {
  const file = openSync(program, 'r');
  try {
    const bytes = (at: number, length: number): Buffer => {
      const read = Buffer.alloc(length);
      return read.subarray(0, readSync(file, read, 0, length, at));
    };
    const header = bytes(0, 64);
    if (header.length < 64 || header.toString('latin1', 0, 6) !== '\x7fELF\x02\x01') return '';
    const [size, count] = [header.readUInt16LE(54), header.readUInt16LE(56)];
    const segments = bytes(Number(header.readBigUInt64LE(PROGRAM_HEADER)), size * count);
    for (let at = 0; at + 40 <= segments.length; at += size) {
      if (segments.readUInt32LE(at) !== INTERPRETER) continue;
      const [from, length] = [segments.readBigUInt64LE(at + 8), segments.readBigUInt64LE(at + 32)];
      return bytes(Number(from), Math.min(Number(length), 4096)).toString('latin1');
    }
    return '';
  } finally {
    closeSync(file);
  }
}

/** Whether a program runs on musl and not on glibc: its loader says so. */
export function isOnMusl(program: string): boolean {
  return loaderOf(program).includes('/ld-musl-');
}

/** This machine as the packages name it, whether there is a package for it or not. */
export function platformHere(): string {
  const { platform, arch, execPath } = process;
  return `${platform}-${arch}${platform === 'linux' && isOnMusl(execPath) ? '-musl' : ''}`;
}

/**
 * Looks for the package of a platform, from a file on, and compares the addon in it with what the package says: Node does
 * not survive the loading of one that is not whole. `version`: that the package must have; null: nobody knows it.
 */
export function prebuiltAddon(from: string, version: string | null, platform = platformHere()): PrebuiltAddon {
  const name = `tfjs-embeddings-${platform}`;
  const lacks = (lacking: string, isFault = false): PrebuiltAddon => ({ platform, lacking, isFault });
  if (!PLATFORMS.includes(platform)) return lacks(`there is no package for ${platform}`);
  let manifestPath;
  try {
    manifestPath = createRequire(from).resolve(`${name}/package.json`);
  } catch {
    return lacks(`${name} is not installed`);
  }
  try {
    const { version: found, addon } = JSON.parse(readFileSync(manifestPath, 'utf8')) as Manifest;
    if (version === null)
      return lacks('the version of tfjs-embeddings is not known: its package.json is not there', true);
    if (found !== version) return lacks(`${name} is version ${found}, tfjs-embeddings is ${version}`, true);
    const path = join(dirname(manifestPath), addon.file);
    const bytes = readFileSync(path);
    if (bytes.length !== addon.bytes) {
      return lacks(`${path} is damaged: expected ${addon.bytes} bytes, received ${bytes.length}`, true);
    }
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    if (sha256 !== addon.sha256) {
      return lacks(`${path} is damaged: expected the SHA-256 ${addon.sha256}, received ${sha256}`, true);
    }
    return { platform, path };
  } catch (error) {
    return lacks(`${name} is damaged: ${(error as Error).message}`, true);
  }
}
