import { spawnSync } from 'node:child_process';
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { emptyFolder, setUpAddress } from './set_up_module.js';

describe('packageFolder', () => {
  const folder = emptyFolder();

  /** What a project in the folder finds. */
  function found(name: string): unknown {
    const script = `import { packageFolder } from ${JSON.stringify(setUpAddress('places.mjs'))};
      console.log(JSON.stringify(packageFolder(${JSON.stringify(name)})));`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: folder.path,
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    return JSON.parse(stdout);
  }

  function makePackage(path: string): string {
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, 'package.json'), '{}');
    return realpathSync(path);
  }

  it("finds packages of the user's project, and null elsewhere", () => {
    const path = makePackage(join(folder.path, 'node_modules', '@some scope', 'plain'));
    expect(found('@some scope/plain')).toBe(path);
    expect(found('@some scope/other')).toBeNull();
  });

  it('follows links: relative links in a package start from where it really is', () => {
    const path = makePackage(join(folder.path, 'store', 'deep', 'linked@1'));
    mkdirSync(join(folder.path, 'node_modules'));
    symlinkSync(join('..', 'store', 'deep', 'linked@1'), join(folder.path, 'node_modules', 'linked'), 'dir');
    expect(found('linked')).toBe(path);
  });
});
