/** Memory that is read in places far apart: whole lines of the cache, on huge pages of the system where it is large. */
const LINE = 64;
const HUGE_PAGE = 2 ** 21;
/** From this many bytes on. */
const LARGE = 2 ** 22;

/** Tells where in a buffer so many bytes should begin, as far as there is room, and asks for huge pages. */
export type PlaceIn = (buffer: ArrayBuffer, bytes: number) => number;

/** A buffer for so many bytes, zeros, and where in it they begin. */
export function alignedMemory(bytes: number, placeIn: PlaceIn): { buffer: ArrayBuffer; offset: number } {
  const buffer = new ArrayBuffer(bytes + (bytes < LARGE ? LINE : HUGE_PAGE));
  return { buffer, offset: placeIn(buffer, bytes) };
}
