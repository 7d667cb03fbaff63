/** The part of cli-progress that progress_bar.ts uses; the package brings no types. */
declare module 'cli-progress' {
  export interface Preset {
    barCompleteChar: string;
    barIncompleteChar: string;
    format: string;
  }
  export const Presets: Readonly<Record<'legacy' | 'rect' | 'shades_classic' | 'shades_grey', Preset>>;
  export interface BarOptions {
    format?: string;
    stream?: NodeJS.WritableStream;
    noTTYOutput?: boolean;
    notTTYSchedule?: number;
    hideCursor?: boolean;
  }
  export class SingleBar {
    constructor(options: BarOptions, preset?: Preset);
    start(total: number, value: number, payload?: object): void;
    update(value: number, payload?: object): void;
    update(payload: object): void;
    stop(): void;
  }
}
