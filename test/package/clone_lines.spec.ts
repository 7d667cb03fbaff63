/** What README says to people who have a clone. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { emptyFolder } from '../custom-ops/setup/set_up_module.js';
import { ROOT } from '../helpers/project.js';

const README = readFileSync(join(ROOT, 'README.md'), 'utf8');

describe('README, from a clone', () => {
  const folder = emptyFolder();

  const run = (cwd: string, line: string): string => {
    const env = { ...process.env, npm_config_audit: 'false', npm_config_fund: 'false', npm_config_loglevel: 'error' };
    const { status, stdout, stderr } = spawnSync(line, { cwd, shell: true, encoding: 'utf8', env });
    expect(status).withContext(`${line}\n${stdout}${stderr}`).toBe(0);
    return stdout;
  };

  it('names commands that there are', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    expect(README).toContain('`npm start` trains the example, `npm test` runs the tests.');
    expect(scripts['start']).toBe('node models/start.mjs wide_and_deep');
    expect(scripts['test']).toBe('node test/main.mjs');
  });

  it('has two lines that make the archive and install it', () => {
    const lines = /^```sh\n(npm pack)\n(npm install .*\.tgz)\n```$/m.exec(README)!;
    expect(lines).not.toBeNull();
    const [, pack, install] = lines as unknown as [string, string, string];
    // The project lies beside the clone, which has everything built; what is made goes where it does not lie in the way.
    const clone = join(folder.path, 'tfjs-embeddings');
    const project = join(folder.path, 'project');
    for (const each of [clone, project]) mkdirSync(each);
    writeFileSync(join(project, 'package.json'), '{"private": true}');
    run(ROOT, `${pack} --ignore-scripts --pack-destination "${clone}"`);
    run(project, install);
    const program = `
      const emb = await import('tfjs-embeddings/node');
      await emb.ready();
      console.log(emb.backendInfo().backend, emb.backendInfo().addon);`;
    writeFileSync(join(project, 'main.mjs'), program);
    expect(run(project, `"${process.execPath}" main.mjs`)).toMatch(/^cpu .*npx tfjs-embeddings setup/m);
  }, 300_000);
});
