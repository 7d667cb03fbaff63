/** Makes folders work, for exports and for loading. Node entry only. */
import { setCrc32c } from './bundle/crc32c.js';
import { setFolderMaker } from './destination.js';
import { makeFolder, setExchange } from './folder.js';
import { setLoader } from './loading.js';

/** What the addon does better than Node or JavaScript. */
interface NativeFiles {
  exchangeFolders(a: string, b: string): boolean;
  extendCrc32c(before: number, bytes: Uint8Array): number;
}

/** Makes paths of folders work for exports; `native`: null where there is no addon. */
export function registerSavedModelFiles(native: NativeFiles | null): void {
  setExchange(native === null ? () => false : (a, b) => native.exchangeFolders(a, b));
  const hasFaster = native !== null && native.extendCrc32c(0, new Uint8Array(1)) >= 0;
  setCrc32c(hasFaster ? (before, bytes) => native.extendCrc32c(before, bytes) : null);
  setFolderMaker(makeFolder);
  setLoader(async (directory, options) => (await import('./load.js')).loadModel(directory, options));
}
