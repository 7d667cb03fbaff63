/** The part of jsfive that is used here; the package has no types. */
declare module 'jsfive' {
  export class Group {
    readonly keys: string[];
    readonly attrs: Record<string, unknown>;
    get(path: string): Group | Dataset | undefined;
  }
  export class File extends Group {
    constructor(bytes: ArrayBuffer, name: string);
  }
  export class Dataset {
    readonly attrs: Record<string, unknown>;
    readonly shape: number[];
    /** As NumPy writes it; a list for anything but numbers. */
    readonly dtype: unknown;
  }
}
