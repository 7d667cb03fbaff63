/** The platform with other parts, as in a runtime that lacks some. */
import 'tfjs-embeddings/node';
import { platform, type Platform } from '../../src/base/platform.js';

/** Puts parts in the place of those that are there, for the whole process; undefined: takes them away. */
export function replacePlatform(parts: { [K in keyof Platform]?: Platform[K] | undefined }): void {
  Object.assign(platform(), parts);
}
