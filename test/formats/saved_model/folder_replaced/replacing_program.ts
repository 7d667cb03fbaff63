/**
 * Replaces a SavedModel over and over, by those that lie beside it, until its input ends:
 *   node --import tsx test/formats/saved_model/folder_replaced/replacing_program.ts FOLDER (exchanged | 'put aside')
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import 'tfjs-embeddings/node';
import { makeFolder } from '../../../../src/formats/saved_model/folder.js';
import { replacePlatform } from '../../../helpers/platform.js';

const [folder = '', how] = process.argv.slice(2);
if (how === 'put aside') replacePlatform({ exchangeFolders: undefined });
let goesOn = true;
process.stdin.on('end', () => (goesOn = false)).resume();
process.stdout.write('ready\n');
for (let i = 0; goesOn; i++) {
  const from = join(folder, ['one', 'two'][i % 2]!);
  await makeFolder(join(folder, 'model'), true, async (writer) => {
    for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      const bytes = new Uint8Array(readFileSync(path));
      await writer.write(
        path.slice(from.length + 1),
        (async function* () {
          yield bytes;
        })(),
      );
    }
  });
}
