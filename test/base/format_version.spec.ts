/** Formats that are ours say their version; a later one is refused with a sentence. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as emb from '../../src/node.js';
import { readManifest, writeManifest } from '../../src/backends/cluster/checkpoints/manifest.js';
import { checkFormatVersion } from '../../src/base/format_version.js';
import { RELEASES, filesOf } from '../../tools/release/fixtures/told.js';

const LATER = 'A later version of tfjs-embeddings wrote it.';

function messageOf(body: () => unknown): string {
  try {
    body();
  } catch (error) {
    expect(error).toBeInstanceOf(emb.ValueError);
    return (error as Error).message;
  }
  return 'nothing was thrown';
}

describe('versions of formats', () => {
  it('are known up to the newest one; none is 1', () => {
    for (const version of [undefined, 1, 2])
      expect(() => checkFormatVersion('file', 'a file', version, 2)).not.toThrow();
    expect(messageOf(() => checkFormatVersion('file', 'a file', 3, 2))).toBe(
      `\`file\`: expected a file of versions 1 to 2, received one of version 3. ${LATER}`,
    );
    for (const version of [0, -1, 1.5, '1', null, {}, NaN]) {
      const message = messageOf(() => checkFormatVersion('file', 'a file', version, 2));
      expect(message).toContain('`file`: expected a file of versions 1 to 2, received one of version ');
      expect(message).not.toContain(LATER);
    }
  });

  it('are in plans', () => {
    const plan = emb.planEmbedding({ tables: [{ inputDim: 10, outputDim: 4 }], worldSize: 2 });
    const stored = JSON.parse(JSON.stringify(plan)) as emb.PlanData;
    expect(stored.version).toBe(1);
    expect(emb.readPlan(stored)).toEqual(plan);
    const message = messageOf(() => emb.readPlan({ ...stored, version: 2, shelves: [] } as emb.PlanData));
    expect(message).toBe(`\`stored\`: expected a plan of version 1, received one of version 2. ${LATER}`);
  });

  it('are in pipelines', () => {
    const config = new emb.preprocessing.Pipeline({ columns: { age: 'float' } }).getConfig();
    expect(config.version).toBe(1);
    expect(emb.preprocessing.Pipeline.fromConfig({ columns: config.columns }).getConfig()).toEqual(config);
    const message = messageOf(() => emb.preprocessing.Pipeline.fromConfig({ ...config, version: 3 }));
    expect(message).toBe(`\`config\`: expected a pipeline of versions 1 to 2, received one of version 3. ${LATER}`);
  });

  it('are in checkpoints of servers', () => {
    const text = writeManifest([]);
    expect(JSON.parse(text)).toEqual({ version: 1, tables: [] });
    const later = text.replace('"version":1', '"version":2');
    expect(messageOf(() => readManifest(later, '/a/checkpoint', 'directory'))).toContain(
      'expected a checkpoint of version 1',
    );
  });

  it('are in the layers of SavedModels', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'later '));
    cpSync(join(filesOf(RELEASES[0]!), 'models', 'embedding_sum', 'saved_model'), folder, { recursive: true });
    const path = join(folder, 'assets.extra', 'tfjs_embeddings.json');
    const assets = JSON.parse(readFileSync(path, 'utf8')) as { version: number };
    expect(assets.version).toBe(1);
    writeFileSync(path, JSON.stringify({ ...assets, version: 2 }));
    await expectAsync(emb.savedModel.load(folder)).toBeRejectedWithError(emb.ValueError, /of version 2/);
    rmSync(folder, { recursive: true });
  });
});
