/** The platforms that have a package of their own with the addon, and how zig compiles for each. */

const LINUX = ['-Wl,--gc-sections', '-Wl,--build-id=none'];
/** Without a name of its own it would have the path where it was linked. */
const MACOS = ['-Wl,-dead_strip', '-Wl,-install_name,tfjs_embeddings.node'];

/**
 * `name`: of the package, without what all names begin with. `platform`, `arch`, `libc`: as npm has them in os, cpu and
 * libc; the last on Linux alone. `zig`: its name of the target, with the oldest system that will do: glibc 2.28 and the
 * releases of macOS are those that Node 20 asks for. `flags`, `links`: what the compilers and the linker get besides.
 */
export const TARGETS = [
  { name: 'linux-x64', platform: 'linux', arch: 'x64', libc: 'glibc', zig: 'x86_64-linux-gnu.2.28', links: LINUX },
  { name: 'linux-arm64', platform: 'linux', arch: 'arm64', libc: 'glibc', zig: 'aarch64-linux-gnu.2.28', links: LINUX },
  { name: 'linux-x64-musl', platform: 'linux', arch: 'x64', libc: 'musl', zig: 'x86_64-linux-musl', links: LINUX },
  { name: 'linux-arm64-musl', platform: 'linux', arch: 'arm64', libc: 'musl', zig: 'aarch64-linux-musl', links: LINUX },
  { name: 'darwin-arm64', platform: 'darwin', arch: 'arm64', zig: 'aarch64-macos.11.0', links: MACOS },
  { name: 'darwin-x64', platform: 'darwin', arch: 'x64', zig: 'x86_64-macos.10.15', links: MACOS },
  { name: 'win32-x64', platform: 'win32', arch: 'x64', zig: 'x86_64-windows-gnu', links: ['-Wl,--gc-sections'] },
];

/** Those that have a package of what TensorFlow needs, too: `setup` takes it where TensorFlow's libraries are for glibc. */
export const TENSORFLOW_TARGETS = TARGETS.filter(({ libc }) => libc === 'glibc').map((target) => ({
  ...target,
  name: `tensorflow-${target.name}`,
  withTensorFlow: true,
}));

const ALL = [...TARGETS, ...TENSORFLOW_TARGETS];

/** Without debug information; each function by itself, so that the linker leaves out what nobody calls. */
export const FLAGS = ['-g0', '-ffunction-sections', '-fdata-sections'];

/** What the linker gets for every target: no names of what is not exported. */
export const LINKS = ['-s'];

/** The targets of these names, in the order of the lists; all where there are none. Throws an Error for an unknown one. */
export function targetsNamed(names) {
  const known = ALL.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`--only ${unknown}: expected ${known.join(', ')}`);
  return ALL.filter(({ name }) => names.length === 0 || names.includes(name));
}
