/** Losses of trainings by step: of training rows, and of rows that are held back. */
import UPlot from 'uplot';
import type { Point, Run } from '../protocol.js';
import { byId, colour } from '../../page/elements.js';

const HEIGHT = 260;

/** A run and the name of its colour. */
export interface ShownRun {
  readonly run: Run;
  readonly colour: string;
}

const pointsOf = (points: readonly Point[]): [number[], number[]] => [
  points.map(({ step }) => step),
  points.map(({ loss }) => loss),
];

export class Curves {
  #plot: UPlot | null = null;
  /** What the plot was made for; other runs need another one. */
  #key = '';
  readonly #place = byId('curves');

  constructor() {
    new ResizeObserver(() => this.#plot?.setSize(this.#size())).observe(this.#place);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => (this.#key = ''));
  }

  #size(): { width: number; height: number } {
    return { width: this.#place.clientWidth, height: HEIGHT };
  }

  show(shown: readonly ShownRun[]): void {
    this.#place.hidden = shown.every(({ run }) => run.losses.length === 0);
    if (this.#place.hidden) return;
    const tables = shown.flatMap(({ run }) => [pointsOf(run.losses), pointsOf(run.held)]);
    const data = UPlot.join(tables);
    const key = shown.map(({ run, colour: name }) => `${run.id} ${name}`).join();
    if (this.#plot === null || key !== this.#key) {
      this.#plot?.destroy();
      this.#plot = new UPlot(this.#options(shown), data, this.#place);
      this.#key = key;
    } else {
      this.#plot.setData(data);
    }
  }

  #options(shown: readonly ShownRun[]): UPlot.Options {
    const [soft, line] = [colour('soft'), colour('line')];
    const axis: UPlot.Axis = { stroke: soft, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
    const series = shown.flatMap(({ colour: name }): UPlot.Series[] => [
      { stroke: colour(name), width: 1, alpha: 0.65, spanGaps: true, points: { show: false } },
      {
        stroke: colour(name),
        width: 2,
        spanGaps: true,
        dash: [6, 4],
        points: { show: true, size: 6, fill: colour(name) },
      },
    ]);
    return {
      ...this.#size(),
      legend: { show: false },
      cursor: { show: false },
      scales: { x: { time: false } },
      axes: [
        { ...axis, label: 'step', labelSize: 22, size: 36 },
        { ...axis, label: 'loss', labelSize: 22, size: 52 },
      ],
      series: [{}, ...series],
    };
  }
}
