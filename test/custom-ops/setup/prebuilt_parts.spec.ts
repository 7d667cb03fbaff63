/** What set-up makes of the package of TensorFlow's parts: when it is taken, and what is said where it is not. */
import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { emptyFolder, setUpModule } from './set_up_module.js';

interface Part {
  readonly path: string;
  readonly sha256: string;
}
interface Parts {
  readonly missing?: string;
  readonly name?: string;
  readonly addon?: Part;
  readonly binding?: Part;
  readonly tfjsNode?: string;
}
interface PrebuiltParts {
  prebuiltParts(from: string): Parts;
  misfit(parts: Parts, tensorflow: { library: string }, tfjsNode?: string): string | null;
}

const NAME = `tfjs-embeddings-tensorflow-${process.platform}-${process.arch}`;

describe("the package of TensorFlow's parts, as set-up sees it", () => {
  const folder = emptyFolder();
  let parts: PrebuiltParts;
  beforeAll(async () => (parts = await setUpModule<PrebuiltParts>('prebuilt_parts.mjs')));

  const inPackage = (name: string): string => join(folder.path, 'node_modules', NAME, name);
  const facts = (file: string, text: string) => ({
    file,
    sha256: createHash('sha256').update(text).digest('hex'),
  });

  function install(manifest: object = {}): void {
    writeFileSync(join(folder.path, 'package.json'), JSON.stringify({ version: '1.2.3' }));
    mkdirSync(inPackage('.'), { recursive: true });
    writeFileSync(inPackage('a.node'), 'addon');
    writeFileSync(inPackage('b.node'), 'binding');
    const made = { addon: facts('a.node', 'addon'), binding: facts('b.node', 'binding'), tfjsNode: '4.22.0' };
    writeFileSync(
      inPackage('package.json'),
      JSON.stringify({ version: '1.2.3', tensorflow: '2.21.0', ...made, ...manifest }),
    );
  }

  it('is taken where it is whole and of the same version', () => {
    install();
    const found = parts.prebuiltParts(folder.path);
    expect(found).toEqual({
      name: NAME,
      addon: { path: inPackage('a.node'), sha256: facts('', 'addon').sha256 },
      binding: { path: inPackage('b.node'), sha256: facts('', 'binding').sha256 },
      tfjsNode: '4.22.0',
      tensorflow: '2.21.0',
    } as never);
    const library = '/some/where/libtensorflow_cc.so.2';
    expect(parts.misfit(found, { library })).toBeNull();
    expect(parts.misfit(found, { library }, '4.22.0')).toBeNull();
    expect(parts.misfit(found, { library }, '4.21.0')).toBe(`${NAME} is for tfjs-node 4.22.0, not 4.21.0`);
    expect(parts.misfit(found, { library: '/lib/libtensorflow.so.2' })).toBe(
      `${NAME} is for libtensorflow_cc.so.2, not libtensorflow.so.2`,
    );
  });

  const wrong: [what: string, spoil: () => void, said: RegExp][] = [
    ['absent', () => rmSync(inPackage('.'), { recursive: true }), /is not installed$/],
    ['of another version', () => install({ version: '1.2.4' }), /is version 1\.2\.4, tfjs-embeddings is 1\.2\.3$/],
    [
      'cut short',
      () => writeFileSync(inPackage('b.node'), 'bind'),
      /b\.node: expected the SHA-256 \w{64}, received \w{64}$/,
    ],
    ['without its addon', () => rmSync(inPackage('a.node')), /is damaged: ENOENT.*a\.node/],
    ['without a description', () => writeFileSync(inPackage('package.json'), '{'), /is damaged: .*JSON/],
    ['without a binding', () => install({ binding: undefined }), /is damaged/],
  ];
  for (const [what, spoil, said] of wrong) {
    it(`is not taken where it is ${what}`, () => {
      install();
      spoil();
      const found = parts.prebuiltParts(folder.path);
      expect(found.missing).toMatch(said);
      expect(found.missing).toContain(NAME);
      expect(parts.misfit(found, { library: 'libtensorflow_cc.so.2' })).toBe(found.missing!);
    });
  }
});
