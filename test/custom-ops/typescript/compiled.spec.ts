/** Programs in TypeScript, compiled once. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../helpers/project.js';
import { emptyFolder } from '../setup/set_up_module.js';

describe('programs in TypeScript', () => {
  const folder = emptyFolder();
  const at = (...names: string[]): string => join(folder.path, ...names);
  const kept = (): string => at('custom-ops', 'build', 'typescript');

  beforeEach(() => {
    cpSync(join(ROOT, 'custom-ops', 'typescript'), at('custom-ops', 'typescript'), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), at('node_modules'), 'junction');
    writeFileSync(at('package.json'), '{"type": "module"}');
    writeFileSync(at('tsconfig.json'), '{"compilerOptions": {"paths": {"the-package/node": ["./src/node.ts"]}}}');
    mkdirSync(at('src'));
    writeFileSync(at('src', 'node.ts'), "export { one } from './one.js';\n");
    writeFileSync(at('src', 'one.ts'), 'export const one: number = 1;\n');
    writeFileSync(at('main.ts'), "import { one } from 'the-package/node';\nconsole.log(one as number);\n");
  });

  const run = () => {
    const register = at('custom-ops', 'typescript', 'register.mjs');
    const { stdout, stderr } = spawnSync(process.execPath, ['--import', register, at('main.ts')], { encoding: 'utf8' });
    return { stdout, stderr };
  };

  it('load sources by the names of tsconfig.json and by those that they will have when built', () => {
    expect(run()).toEqual({ stdout: '1\n', stderr: '' });
    expect(readdirSync(kept()).length).toBe(3);
    expect(run()).toEqual({ stdout: '1\n', stderr: '' });
    expect(readdirSync(kept()).length).toBe(3);
  });

  it('run what a source says now', () => {
    run();
    writeFileSync(at('src', 'one.ts'), 'export const one: number = 2;\n');
    expect(run()).toEqual({ stdout: '2\n', stderr: '' });
  });

  it('run modules of either name', () => {
    writeFileSync(at('other.mts'), "import { one } from './src/one.js';\nconsole.log(one as number);\n");
    const register = at('custom-ops', 'typescript', 'register.mjs');
    const { stdout, stderr } = spawnSync(process.execPath, ['--import', register, at('other.mts')], {
      encoding: 'utf8',
    });
    expect([stdout, stderr]).toEqual(['1\n', '']);
  });

  it('prefer a JavaScript module that is there', () => {
    writeFileSync(at('src', 'one.js'), 'export const one = 3;\n');
    expect(run()).toEqual({ stdout: '3\n', stderr: '' });
  });

  it('name the line of the source where they fail, also when it is kept', () => {
    writeFileSync(
      at('main.ts'),
      'interface A {\n  a: 1;\n}\nconst a: A = { a: 1 };\n\n\nthrow new Error(String(a.a));\n',
    );
    for (const time of ['compiled', 'kept'])
      expect(run().stderr)
        .withContext(time)
        .toMatch(/main\.ts:7:7\)?\n/);
  });

  it('say what is no TypeScript, and keep nothing of it', () => {
    writeFileSync(at('src', 'one.ts'), 'export const = 1;\n');
    expect(run().stderr).toMatch(/one\.ts:1:13: ERROR/);
    expect(readdirSync(kept()).length).toBe(2);
  });

  it('run where nothing can be kept', () => {
    mkdirSync(at('custom-ops', 'build'));
    writeFileSync(kept(), 'a file');
    expect(run()).toEqual({ stdout: '1\n', stderr: '' });
    rmSync(kept());
    expect(existsSync(kept())).toBeFalse();
  });
});
