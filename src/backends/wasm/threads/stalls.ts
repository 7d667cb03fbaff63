/** After calls in which a thread stood still, as one does whose core another process wants: how long to work alone. */

/** Calls are made alone for so many times the length of such a call; more, where stalls follow each other. */
const LEAST_SHARE = 5;
const MOST_SHARE = 80;
/** A stall follows another where calls have had helpers again for less than so many times what that one cost. */
const SOON = 2;

/** Times are those of one clock, in ms. */
export class Stalls {
  private until = -Infinity;
  private length = 0;
  private share = LEAST_SHARE;

  /** Whether calls are made alone then. */
  aloneAt(time: number): boolean {
    return time < this.until;
  }

  /** Takes a call with helpers in which a thread stood still. */
  notice(begun: number, ended: number): void {
    const follows = begun - this.until < SOON * this.length;
    this.share = follows ? Math.min(2 * this.share, MOST_SHARE) : LEAST_SHARE;
    this.length = this.share * (ended - begun);
    this.until = ended + this.length;
  }
}
