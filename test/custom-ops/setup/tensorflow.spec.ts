import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { emptyFolder, setUpAddress, setUpModule } from './set_up_module.js';
import { smallWheel, type LibraryNames } from './small_wheel.js';

interface TensorflowModule {
  unpack(wheel: string, folder: string, log: (text: string) => void): Promise<void>;
  libraryNames(platform: string): LibraryNames;
}
interface WheelModule {
  wheelFor(platform: string, arch: string): { project?: string; platform?: string; missing?: string };
}

describe('unpacking the TensorFlow wheel', () => {
  const folder = emptyFolder();
  let tensorflow: TensorflowModule;
  beforeAll(async () => (tensorflow = await setUpModule<TensorflowModule>('tensorflow.mjs')));

  const unpack = (wheel: string): Promise<void> => tensorflow.unpack(wheel, target(), () => {});

  const names = (): LibraryNames => tensorflow.libraryNames(process.platform);
  const target = (): string => join(folder.path, 'tensorflow-0');
  function put(bytes: Buffer): string {
    const path = join(folder.path, 'tensorflow.whl');
    writeFileSync(path, bytes);
    return path;
  }

  it('takes the libraries, the headers and what they include, and nothing else', async () => {
    await unpack(put(smallWheel(names())));
    expect(readdirSync(join(target(), 'lib')).sort()).toEqual(
      [names().framework[0], names().main[0]].sort() as string[],
    );
    expect(existsSync(join(target(), 'include', 'xla/tsl/c/tsl_status.h'))).toBeTrue();
    expect(existsSync(join(target(), 'include', 'tensorflow/core/framework'))).toBeFalse();
    const files = JSON.parse(readFileSync(join(target(), 'files.json'), 'utf8')) as Record<string, number>;
    expect(files[`lib/${names().main[0]}`]).toBe(4096);
    expect(Object.keys(files).length).toBe(9);
  });

  it('says what it unpacks, and how large that is', async () => {
    const said: string[] = [];
    const wheel = put(smallWheel(names(), { bytes: 2_000_000 }));
    await tensorflow.unpack(wheel, target(), (text) => said.push(text));
    expect(said).toEqual([`unpacking ${names().framework[0]} (0 MB)`, `unpacking ${names().main[0]} (2 MB)`]);
  });

  it('refuses a wheel with a changed byte, one that was cut short, and what is none, and leaves nothing', async () => {
    const whole = smallWheel(names(), { bytes: 100_000 });
    const changed = Buffer.from(whole);
    changed[50_000] = changed[50_000]! ^ 1; // in the first library, which is random and thus stored as it is
    const cases: [Buffer, RegExp][] = [
      [changed, /is damaged|SHA-256/],
      [whole.subarray(0, whole.length - 30), /not a zip file/],
      [Buffer.from('ids, values, weights'), /not a zip file/],
      [Buffer.alloc(0), /not a zip file/],
    ];
    for (const [bytes, message] of cases) {
      await expectAsync(unpack(put(bytes))).toBeRejectedWithError(message);
      expect(existsSync(target())).toBeFalse();
    }
  });

  it('names the library that the wheel lacks', async () => {
    const other = { ...names(), main: ['other.so'] };
    await expectAsync(unpack(put(smallWheel(other)))).toBeRejectedWithError(
      `the wheel holds none of ${names().main.join(', ')}`,
    );
  });

  it('reports a folder that cannot be written', async () => {
    writeFileSync(join(folder.path, 'file'), '');
    const wheel = put(smallWheel(names()));
    const inFile = join(folder.path, 'file', 'tensorflow-0');
    await expectAsync(tensorflow.unpack(wheel, inFile, () => {})).toBeRejectedWithError(/Not a directory|ENOTDIR/);
  });

  it('leaves nothing behind when a library is not the one that the wheel records', async () => {
    const path = put(smallWheel(names(), { lie: true }));
    await expectAsync(unpack(path)).toBeRejectedWithError(/SHA-256/);
    expect(existsSync(target())).toBeFalse();
  });

  it('replaces what an unpacking that was cut off has left', async () => {
    mkdirSync(join(`${target()}.partial`, 'lib'), { recursive: true });
    writeFileSync(join(`${target()}.partial`, 'lib', 'stray'), 'x');
    await unpack(put(smallWheel(names())));
    expect(existsSync(join(target(), 'lib', 'stray'))).toBeFalse();
    expect(existsSync(`${target()}.partial`)).toBeFalse();
  });

  it('is whole or absent when it is killed at any moment', async () => {
    const path = put(smallWheel(names(), { bytes: 20_000_000 }));
    const script = `import { unpack } from ${JSON.stringify(setUpAddress('tensorflow.mjs'))};
      console.log('begun');
      await unpack(${JSON.stringify(path)}, ${JSON.stringify(target())}, () => {});`;
    let killed = 0;
    for (const delay of [0, 20, 60, 120, 240]) {
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      const exit = once(child, 'exit'); // it may end by itself before it is killed
      await once(child.stdout, 'data');
      await new Promise((resolve) => setTimeout(resolve, delay));
      if (child.exitCode === null) child.kill('SIGKILL');
      const [code] = (await exit) as [number | null];
      if (code === null) killed++;
      if (existsSync(target())) {
        expect(readFileSync(join(target(), 'lib', names().main[0] as string)).length).toBe(20_000_000);
        expect(existsSync(join(target(), 'files.json'))).toBeTrue();
      }
    }
    expect(killed).toBeGreaterThan(0);
    await unpack(path);
    expect(readFileSync(join(target(), 'lib', names().main[0] as string)).length).toBe(20_000_000);
  });
});

describe('the wheel for a platform', () => {
  let wheelFor: WheelModule['wheelFor'];
  beforeAll(async () => ({ wheelFor } = await setUpModule<WheelModule>('wheel.mjs')));

  it('is known for Linux and for Macs with Apple processors', () => {
    expect(wheelFor('linux', 'x64').project).toBe('tensorflow-cpu');
    expect(wheelFor('linux', 'arm64').platform).toMatch(/^manylinux.*aarch64$/);
    expect(wheelFor('darwin', 'arm64').platform).toMatch(/^macosx.*arm64$/);
  });

  it('is missing elsewhere, with words on what to do', () => {
    expect(wheelFor('win32', 'x64').missing).toMatch(/LIBTENSORFLOW_DIR/);
    expect(wheelFor('linux', 'riscv64').missing).toMatch(/linux riscv64/);
  });
});
